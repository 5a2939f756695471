"""Certificates: made once, private, renewed when they expire; what is wrong with others is said, with what to do."""

from __future__ import annotations

import json
import shutil
import ssl
import stat
import time
from contextlib import contextmanager
from types import SimpleNamespace

import dask
import pytest

from graphdask.cluster import tls
from graphdask.cluster.local import connect
from graphdask.errors import InputError, MissingDependency, WriteError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the program openssl")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "graphdask" / "tls"


@contextmanager
def later(days):
    """The clock as it will be then."""
    then = time.time() + 86400 * days
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tls, "time", SimpleNamespace(time=lambda: then, strftime=time.strftime, gmtime=time.gmtime))
        yield


def test_a_certificate_is_made_once_for_the_user_alone(folder):
    first = tls.files_of(tls.security_of_cluster())
    made = (folder / tls.CERTIFICATE).read_bytes()
    assert tls.files_of(tls.security_of_cluster()) == first
    assert (folder / tls.CERTIFICATE).read_bytes() == made
    assert stat.S_IMODE((folder / tls.KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in folder.iterdir()} == {tls.CERTIFICATE, tls.KEY}


def test_a_new_cluster_gets_a_new_certificate_where_its_own_has_expired(folder):
    tls.security_of_cluster()
    made = (folder / tls.CERTIFICATE).read_bytes()
    with later(364.5):
        tls.security_of_client("tls://10.0.0.1:8786")
        tls.security_of_cluster()
    assert (folder / tls.CERTIFICATE).read_bytes() != made
    with later(366), pytest.raises(InputError, match=r"expired on .* graphdask cluster start makes a new one"):
        tls.security_of_client("tls://10.0.0.1:8786")


def test_without_openssl_or_a_place_to_write_it_is_said_what_to_do(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda name: None)
        with pytest.raises(MissingDependency, match="install it, name certificates in Dask's configuration"):
            tls.security_of_cluster()
    folder.parent.write_text("a file where the folder belongs")
    with pytest.raises(WriteError, match="a certificate belongs there"):
        tls.security_of_cluster()


def test_a_client_without_a_certificate_is_told_where_to_get_it():
    with pytest.raises(InputError, match="give the file that graphdask cluster start wrote"), connect("tls://a:1"):
        pass


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / tls.KEY).unlink(), "key.pem: no such file"),
        (lambda folder: (folder / tls.CERTIFICATE).write_text("none\n"), "are no certificate with its key"),
    ],
    ids=["missing", "damaged"],
)
@pytest.mark.parametrize("named_by", ["scheduler file", "dask"])
def test_certificates_that_cannot_be_used_are_named(folder, tmp_path, damage, message, named_by):
    files = tls.files_of(tls.security_of_cluster())
    damage(folder)
    if named_by == "dask":
        settings = {"distributed.comm.tls.ca-file": files["ca_file"]}
        settings |= {f"distributed.comm.tls.client.{part}": files[part] for part in ("cert", "key")}
        with dask.config.set(settings), pytest.raises(InputError, match=message), connect("tls://127.0.0.1:1"):
            pass
        return
    (tmp_path / "s.json").write_text(json.dumps({"address": "tls://127.0.0.1:1", "tls": files}))
    with pytest.raises(InputError, match=message), connect(scheduler_file=tmp_path / "s.json"):
        pass


def test_an_address_without_encryption_is_refused_where_that_is_required():
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(InputError, match=r"tcp://127.0.0.1:1 is not encrypted, and .*require-encryption is set"),
        connect("tcp://127.0.0.1:1"),
    ):
        pass


def test_what_a_handshake_says_is_explained():
    expired = ssl.SSLCertVerificationError("certificate verify failed: certificate has expired (_ssl.c:1006)")
    assert "start the cluster again" in tls.explain(expired, "tls://a:1")
    assert tls.explain(OSError("connection refused"), "tls://a:1") == ""
