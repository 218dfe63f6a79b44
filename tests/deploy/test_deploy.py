"""What ships for running the bridge for good: a unit that systemd accepts, an image without root, one configuration."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bridge.settings import load
from bridge.web.stream import KEEP_ALIVE_S

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNIT = (DEPLOY / "kirichess-bridge.service").read_text()
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "kirichess-bridge.service"
    unit.write_text(UNIT.replace("/opt/kirichess-bridge/bin/kirichess-bridge", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60)
    complaints = [line for line in done.stderr.splitlines() if "kirichess" in line]
    assert (done.returncode, complaints) == (0, [])


def test_the_configuration_fits_what_unit_and_image_give_it(tmp_path: Path) -> None:
    (tmp_path / "lichess-token").write_text("lip_x")
    variables = {"CREDENTIALS_DIRECTORY": str(tmp_path), "STATE_DIRECTORY": "/var/lib/kirichess-bridge"}
    settings = load(DEPLOY / "config.yml", variables=variables)
    assert settings.journal.url == "sqlite:////var/lib/kirichess-bridge/journal.db"
    assert settings.pgn is not None
    assert settings.pgn.folder == "/var/lib/kirichess-bridge/games"
    assert "LoadCredential=lichess-token:" in UNIT
    assert "StateDirectory=kirichess-bridge" in UNIT
    for name in variables:
        assert f"{name}=/" in DOCKERFILE


def test_a_mistake_in_the_configuration_is_not_tried_again() -> None:
    assert "RestartPreventExitStatus=2" in UNIT


def test_the_container_has_no_root_and_no_token() -> None:
    lines = DOCKERFILE.splitlines()
    assert lines.index("USER kirichess") < lines.index('ENTRYPOINT ["kirichess-bridge"]')
    service = COMPOSE["services"]["bridge"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["secrets"] == ["lichess-token"]
    assert "environment" not in service
    assert set(COMPOSE["volumes"]) == {"state"}


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    let_in = re.findall(r"(?m)^!(.+)$", (DEPLOY / "Dockerfile.dockerignore").read_text())
    copied = [source for line in re.findall(r"(?m)^COPY (?!--from)(.+)$", DOCKERFILE) for source in line.split()[:-1]]
    assert copied
    for source in copied:
        assert (ROOT / source).exists(), source
        assert source in let_in


def test_a_proxy_passes_on_what_the_monitor_asks_for() -> None:
    nginx = (DEPLOY / "proxy" / "nginx.conf").read_text()
    for line in (
        "proxy_set_header Host $host;",
        "proxy_set_header X-Forwarded-Proto $scheme;",
        "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
        "proxy_buffering off;",
    ):
        assert line in nginx
    wait_s = int(re.findall(r"proxy_read_timeout (\d+)s;", nginx)[0])
    assert wait_s > 2 * KEEP_ALIVE_S, "a quiet line is no dead one"
    assert nginx.count("{") == nginx.count("}")
    assert "flush_interval -1" in (DEPLOY / "proxy" / "Caddyfile").read_text()


def test_the_monitor_s_setting_behind_a_proxy_is_one(tmp_path: Path) -> None:
    (setting,) = re.findall(r"(?m)^monitor: .*hosts.*$", (DEPLOY / "README.md").read_text())
    (tmp_path / "monitor-token").write_text("x")
    file = tmp_path / "config.yml"
    file.write_text(f"watch: [{{tv: blitz, pool: anchor}}]\n{setting}\n")
    settings = load(file, variables={"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert settings.monitor is not None
    assert settings.monitor.hosts == ("kiri.example.org",)
