"""The HTTP surface: the API, what receives OpenTelemetry, and the pages, on one port."""
