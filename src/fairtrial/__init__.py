"""fairtrial: every change to your agent gets a fair trial."""

TYPE_CHECKING = False  # importing typing for it would take longer than all the rest
if TYPE_CHECKING:
    from fairtrial.model.errors import InfraError as InfraError
    from fairtrial.model.errors import TaskError as TaskError
    from fairtrial.model.errors import Undecidable as Undecidable
    from fairtrial.model.task import TaskCall as TaskCall
    from fairtrial.model.task import TaskResult as TaskResult
    from fairtrial.sdk.cases import Case as Case
    from fairtrial.sdk.comparison import Comparison as Comparison
    from fairtrial.sdk.comparison import compare as compare
    from fairtrial.sdk.datasets import Dataset as Dataset
    from fairtrial.sdk.evaluation import Eval as Eval
    from fairtrial.sdk.evaluation import eval_async as eval_async
    from fairtrial.sdk.experiment import Experiment as Experiment
    from fairtrial.sdk.record_session import RecordedSession as RecordedSession
    from fairtrial.sdk.record_session import record_session as record_session
    from fairtrial.sdk.scoring import Grader as Grader
    from fairtrial.sdk.scoring import Score as Score
    from fairtrial.sdk.scoring import grader as grader

__version__ = "0.1.0"

_PLACES = {
    "Case": "fairtrial.sdk.cases",
    "Comparison": "fairtrial.sdk.comparison",
    "Dataset": "fairtrial.sdk.datasets",
    "Eval": "fairtrial.sdk.evaluation",
    "Experiment": "fairtrial.sdk.experiment",
    "Grader": "fairtrial.sdk.scoring",
    "InfraError": "fairtrial.model.errors",
    "RecordedSession": "fairtrial.sdk.record_session",
    "Score": "fairtrial.sdk.scoring",
    "TaskCall": "fairtrial.model.task",
    "TaskError": "fairtrial.model.errors",
    "TaskResult": "fairtrial.model.task",
    "Undecidable": "fairtrial.model.errors",
    "compare": "fairtrial.sdk.comparison",
    "eval_async": "fairtrial.sdk.evaluation",
    "grader": "fairtrial.sdk.scoring",
    "record_session": "fairtrial.sdk.record_session",
}
"""Where each public name is: it is loaded on first use, for most commands need none of them."""

__all__ = [
    "Case",
    "Comparison",
    "Dataset",
    "Eval",
    "Experiment",
    "Grader",
    "InfraError",
    "RecordedSession",
    "Score",
    "TaskCall",
    "TaskError",
    "TaskResult",
    "Undecidable",
    "__version__",
    "compare",
    "eval_async",
    "grader",
    "record_session",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415  # only for who uses one

    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
