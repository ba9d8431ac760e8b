"""The pages: what the verbs say, for people. Each is a GET whose URL says all of it."""
