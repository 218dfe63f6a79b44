"""The dashboard and the alert rules speak of metrics that exist, by the labels they have."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bridge.interfaces import Entry
from bridge.metrics import AccountNow, Metrics, Now, SinkNow
from bridge.traffic import Traffic

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "kirichess.rules.yml"


def entry(type_: str, **data: object) -> Entry:
    return Entry(1, "j-1", 0, type_, "g", "anna", data)


def exposed() -> Mapping[str, set[str]]:
    """Every sample that a daemon of one account and one sink can have → its labels."""
    traffic = Traffic()
    traffic.waiting = lambda: {"move": 0}
    with traffic.stream("/api/stream/event") as signs:
        signs.opened()
        signs.opened()
        account, sink = AccountNow("anna", True, 1, traffic), SinkNow("webhook", 3, False, 1)
        now = Now("1", True, False, 7, True, 0, [account], [sink])
        metrics = Metrics(lambda: now)
        metrics.measures.thought(0.5)
        metrics.measures.answered(0.001)
        flag = {"side": "white", "cause": "toll", "forced": True}
        verdict = {"pool": "anchor", "reason": "flag", "flag": flag}
        metrics.count(entry("kirichess.verdict.final", verdict=verdict))
        metrics.count(entry("kirichess.anomaly", kind="time_given"))
        metrics.count(entry("kirichess.engine.failed", cause="died"))
        text = metrics.expose().decode()
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


METRICS = exposed()


def expressions() -> Iterator[tuple[str, str]]:
    """Expression, and the text that names its labels for people."""
    for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"]:
        for rule in group["rules"]:
            yield rule["expr"], rule["annotations"]["summary"]
    dashboard = json.loads((DEPLOY / "grafana" / "kirichess.json").read_text("utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]


@pytest.mark.parametrize(("expression", "words"), list(expressions()))
def test_only_metrics_that_exist_by_labels_they_have(expression: str, words: str) -> None:
    names = re.findall(r"kirichess_[a-z_]+", expression)
    assert set(names) <= METRICS.keys()
    assert names or expression.startswith("up{")
    labels = {"instance", "job"}.union(*(METRICS[name] for name in names))
    grouped = {label for group in re.findall(r"\bby \(([^)]*)\)", expression) for label in group.split(", ")}
    selected = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression))
    shown = set(re.findall(r"{{\s*(?:\$labels\.)?(\w+)\s*}}", words))
    assert grouped | selected | shown <= labels


def test_names_follow_the_conventions() -> None:
    text = Metrics(lambda: Now("1", True, False, 7, True, 0, [], [])).expose().decode()
    for family in text_string_to_metric_families(text):
        assert family.name.startswith("kirichess_")
        assert not re.search(r"_(ms|milliseconds|kb|percent)\b", family.name)
        assert family.documentation
    for name in METRICS:
        assert not name.endswith("_created") or name.replace("_created", "_total") in METRICS or "seconds" in name


def test_a_label_never_grows_without_bound() -> None:
    metrics = Metrics(lambda: Now("1", True, False, 7, True, 0, [], []))
    for number in range(1000):
        metrics.count(entry("kirichess.anomaly", kind=f"kind {number}"))
    lines = [line for line in metrics.expose().decode().splitlines() if line.startswith("kirichess_anomalies_total{")]
    assert len(lines) == 61
    assert 'kirichess_anomalies_total{kind="other"} 940.0' in lines


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)")
@pytest.mark.parametrize(("what", "file"), [("rules", "kirichess.rules.yml"), ("config", "prometheus.yml")])
def test_prometheus_takes_the_files(what: str, file: str) -> None:
    done = subprocess.run(
        ["promtool", "check", what, file], cwd=RULES.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
