"""OTLP over HTTP: what programs that export OpenTelemetry send, in protobuf or JSON."""
