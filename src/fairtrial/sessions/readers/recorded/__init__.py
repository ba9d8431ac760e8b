"""Sessions that programs record with `fairtrial.record_session`."""
