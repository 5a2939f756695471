"""Certificates: made once, private, renewed when they expire; what is wrong with others is said, with what to do."""

from __future__ import annotations

import json
import os
import ssl
import stat
import sys
import time
from contextlib import contextmanager

import dask
import pytest
from outside import Host

from graphdask.cluster import certificates, tls
from graphdask.cluster.local import connect
from graphdask.errors import InputError, MissingDependency, WriteError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "graphdask" / "tls"


@contextmanager
def later(days):
    """The clock as it will be then."""
    with pytest.MonkeyPatch.context() as patch:
        yield Host(patch).clock(tls, time.time() + 86400 * days)


def test_a_certificate_is_made_once_for_the_user_alone(folder):
    first = tls.files_of(tls.security_of_cluster())
    made = (folder / certificates.CERTIFICATE).read_bytes()
    assert tls.files_of(tls.security_of_cluster()) == first
    assert (folder / certificates.CERTIFICATE).read_bytes() == made
    assert stat.S_IMODE((folder / certificates.KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in folder.iterdir()} == {certificates.CERTIFICATE, certificates.KEY}


def test_a_new_cluster_gets_a_new_certificate_where_its_own_has_expired(folder):
    tls.security_of_cluster()
    made = (folder / certificates.CERTIFICATE).read_bytes()
    with later(364.5):
        tls.security_of_client("tls://10.0.0.1:8786")
        tls.security_of_cluster()
    assert (folder / certificates.CERTIFICATE).read_bytes() != made
    with later(366), pytest.raises(InputError, match=r"expired on .* graphdask cluster start makes a new one"):
        tls.security_of_client("tls://10.0.0.1:8786")


def test_without_cryptography_or_a_place_to_write_it_is_said_what_to_do(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "cryptography", None)
        for security in tls.security_of_cluster, tls.security_of_run:
            with pytest.raises(MissingDependency, match="pip install cryptography; or name certificates in Dask's"):
                security()
    folder.parent.write_text("a file where the folder belongs")
    with pytest.raises(WriteError, match="a certificate belongs there"):
        tls.security_of_cluster()


def test_a_certificate_is_one_that_strict_readers_take(tmp_path):
    certificate, key = certificates.make()
    with certificates.written(certificate, key) as files:
        context = ssl.create_default_context(cafile=files["ca_file"])
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.check_hostname = False
        context.load_cert_chain(files["cert"], files["key"])
        server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=files["ca_file"])
        server.verify_flags |= ssl.VERIFY_X509_STRICT
        server.verify_mode = ssl.CERT_REQUIRED
        server.load_cert_chain(files["cert"], files["key"])
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [context.wrap_bio(back, there), server.wrap_bio(there, back, server_side=True)]
    met = 0
    for _ in range(6):
        for end in list(ends):
            try:
                end.do_handshake()
                met += 1
                ends.remove(end)
            except ssl.SSLWantReadError:
                pass
    assert met == 2


def test_files_of_a_certificate_are_for_the_user_alone_and_go(tmp_path):
    with certificates.written(*certificates.make()) as files:
        assert {stat.S_IMODE(os.stat(path).st_mode) for path in files.values()} == {0o600}
        folder = os.path.dirname(files["key"])
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert not os.path.exists(folder)


def test_certificates_differ_and_a_run_keeps_its_own_in_memory(folder):
    first, second = tls.security_of_run(), tls.security_of_run()
    assert first.tls_worker_key != second.tls_worker_key
    assert tls.files_of(first) == {}
    assert not folder.exists()


def test_an_error_says_where_a_client_gets_a_certificate():
    with pytest.raises(InputError, match="give the file that graphdask cluster start wrote"), connect("tls://a:1"):
        pass


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / certificates.KEY).unlink(), "key.pem: no such file"),
        (lambda folder: (folder / certificates.CERTIFICATE).write_text("none\n"), "are no certificate with its key"),
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
