"""A plugin of pytest: each case of the isolation suite is a test, of whatever provider is named.

It is there as soon as nsstore is installed, and does nothing until ``--isolation-provider`` is given.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, Self

import pytest

if TYPE_CHECKING:
    from _pytest._code.code import ExceptionInfo, TerminalRepr

    from nsstore.harness.case import Case, Result
    from nsstore.harness.running import Suite

PROVIDER: Final = "--isolation-provider"
FULL: Final = "--isolation-full"
SUITE: Final = "isolation"
FIGURES: Final = "figures"


class NotProven(Exception):
    """A case failed, or one that has to run could not."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suite."""
    group = parser.getgroup(SUITE, "isolation acceptance (nsstore)")
    group.addoption(
        PROVIDER,
        metavar="MODULE:FACTORY",
        help="try this memory: a function without arguments that makes an empty one",
    )
    group.addoption(FULL, action="store_true", help="every case of the suite, with time for more of each")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, by which the cases are chosen or left out."""
    config.addinivalue_line("markers", f"{SUITE}: a case of the isolation suite (needs {PROVIDER})")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Look at the provider before anything is collected. Raises :class:`pytest.UsageError` without one."""
    name: str | None = session.config.getoption(PROVIDER)
    if name is None:
        return
    from nsstore.errors import StoreError
    from nsstore.harness.named import provider_of

    where = str(session.config.invocation_params.dir)
    if where not in sys.path:
        sys.path.insert(0, where)
    try:
        with provider_of(name):
            pass
    except StoreError as err:
        raise pytest.UsageError(f"{PROVIDER}: {err}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put the cases behind whatever else was found, before anything is chosen from it."""
    name: str | None = config.getoption(PROVIDER)
    if name is None:
        return
    suite = IsolationSuite.of(session, name, full=bool(config.getoption(FULL)))
    report: pytest.CollectReport = suite.ihook.pytest_make_collect_report(collector=suite)
    suite.ihook.pytest_collectreport(report=report)
    items += [one for one in report.result or () if isinstance(one, pytest.Item)]


class IsolationSuite(pytest.Collector):
    """The suite against one provider: open while its cases run."""

    def __init__(self, *, provider: str, full: bool, **given: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**given)
        self.provider = provider
        self.results: list[Result] = []
        self._full = full
        self._open = ExitStack()
        self._suite: Suite | None = None

    @classmethod
    def of(cls, session: pytest.Session, provider: str, *, full: bool) -> Self:
        """The suite of a session."""
        return cls.from_parent(  # pyright: ignore[reportUnknownMemberType] - pytest types no keyword
            session, name=SUITE, nodeid=SUITE, provider=provider, full=full
        )

    def collect(self) -> list[pytest.Item]:
        """A test for each case, and one for the figures behind them."""
        from nsstore.harness.running import cases

        return [*(CaseItem.of(self, case) for case in cases(full=self._full)), FiguresItem.of(self)]

    def setup(self) -> None:
        """Open the suite."""
        from nsstore.harness.named import provider_of
        from nsstore.harness.running import Suite

        make = self._open.enter_context(provider_of(self.provider))
        self._suite = self._open.enter_context(Suite(make, full=self._full))

    def teardown(self) -> None:
        """Close it."""
        self._open.close()
        self._suite = None

    @property
    def suite(self) -> Suite:
        """The suite, which is open while its cases run."""
        assert self._suite is not None
        return self._suite


class IsolationItem(pytest.Item):
    """What the suite has a test of."""

    suite: IsolationSuite

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**given)  # pyright: ignore[reportUnknownMemberType] - pytest types no keyword
        assert isinstance(self.parent, IsolationSuite)
        self.suite = self.parent
        self.add_marker(SUITE)

    def repr_failure(
        self,
        excinfo: ExceptionInfo[BaseException],
        style: Any = None,  # noqa: ANN401 - pytest's own
    ) -> str | TerminalRepr:
        """What was seen, without a traceback through the suite."""
        if isinstance(excinfo.value, NotProven):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class CaseItem(IsolationItem):
    """One case."""

    def __init__(self, *, case: Case, **given: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**given)
        self.case = case
        self.user_properties.append(("sentence", case.sentence))

    @classmethod
    def of(cls, suite: IsolationSuite, case: Case) -> Self:
        """The test of a case."""
        return cls.from_parent(  # pyright: ignore[reportUnknownMemberType] - pytest types no keyword
            suite, name=case.id, case=case
        )

    def runtest(self) -> None:
        """Try the case. Raises :class:`NotProven`; what a provider lacks is skipped, unless a criterion."""
        from nsstore.harness.case import Outcome
        from nsstore.harness.report.plain import plain
        from nsstore.harness.report.verdict import is_owed

        found = self.suite.suite.result(self.case)
        self.suite.results.append(found)
        seen = plain(found.seen)
        self.user_properties.append(("seen", seen))
        asked = f"{self.case.document}: {self.case.sentence}"
        if found.outcome is Outcome.FAILED:
            raise NotProven(f"{seen}\n{asked}")
        if is_owed(found):
            raise NotProven(f"not run, and nothing is green without it: {seen}\n{asked}")
        if found.outcome is Outcome.NOT_RUN:
            pytest.skip(seen)

    def reportinfo(self) -> tuple[str, None, str]:
        """Where it stands and what it is called."""
        return self.suite.provider, None, f"{self.case.id} {self.case.title}"


class FiguresItem(IsolationItem):
    """The figures over every answer of the cases that ran before it."""

    @classmethod
    def of(cls, suite: IsolationSuite) -> Self:
        """The test of a suite's figures."""
        return cls.from_parent(  # pyright: ignore[reportUnknownMemberType] - pytest types no keyword
            suite, name=FIGURES
        )

    def runtest(self) -> None:
        """Judge them. Raises :class:`NotProven`."""
        from nsstore.harness.report.verdict import bad

        report = self.suite.suite.report(self.suite.results, 0.0)
        if found := bad(report.metrics):
            raise NotProven("\n".join(one.told() for one in found))

    def reportinfo(self) -> tuple[str, None, str]:
        """Where it stands and what it is called."""
        return self.suite.provider, None, "figures over every answer"
