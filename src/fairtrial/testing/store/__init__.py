"""The contracts of the stores, as tests, and facts for tests of a store."""
