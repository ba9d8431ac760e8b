"""The contracts of the stores, as tests.

A store passes when its subclasses of `DatasetStoreContract` and `ExperimentStoreContract` do: each
overrides the `store` fixture to give an empty store, open for the length of a test.
"""

from fairtrial.testing.store.datasets import DatasetStoreContract
from fairtrial.testing.store.experiments import ExperimentStoreContract
from fairtrial.testing.store.facts import NOON, Store, a_trial, an_experiment, assert_aggregates

__all__ = [
    "NOON",
    "DatasetStoreContract",
    "ExperimentStoreContract",
    "Store",
    "a_trial",
    "an_experiment",
    "assert_aggregates",
]
