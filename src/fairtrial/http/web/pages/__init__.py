"""One module a page: parameters of its URL become a request, its report a template."""
