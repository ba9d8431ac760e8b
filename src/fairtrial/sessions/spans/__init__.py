"""Sessions out of what programs tell by OpenTelemetry."""
