"""Level `image`: a container of podman or docker, driven by its command line."""
