"""The wire formats of model APIs: pure functions between bytes and the words of the model."""
