"""Certificates that are made here: each is its own authority, and who has its key belongs to the cluster."""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from graphdask.errors import MissingDependency, WriteError

DAYS = 365
"""How long a new certificate is valid."""
CERTIFICATE, KEY = "certificate.pem", "key.pem"
NAME = "graphdask"


def make() -> tuple[str, str]:
    """Return a new certificate and its key, as PEM texts.

    Raises
    ------
    MissingDependency
        Without the package `cryptography`.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    except ImportError as error:
        raise MissingDependency(
            f"a cluster that speaks TLS needs the package cryptography, which makes its certificate ({error}): "
            "pip install cryptography; or name certificates in Dask's configuration (distributed.comm.tls)"
        ) from None
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    public, now = key.public_key(), datetime.datetime.now(datetime.UTC)
    of_keys = {"digital_signature": True, "key_cert_sign": True} | dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign", "encipher_only",
         "decipher_only"), False)  # fmt: skip
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # clocks of other hosts may be behind
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**of_keys), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), text.decode()


def write(folder: Path, certificate: str, key: str) -> None:
    """Write both into a folder, in place of what is there; only the user may read them.

    Raises
    ------
    WriteError
        Where they cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:  # its files are nobody else's from the beginning
            for name, text in ((KEY, key), (CERTIFICATE, certificate)):
                new = Path(work, name)
                with open(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
                    file.write(text)
            for name in (KEY, CERTIFICATE):
                os.replace(Path(work, name), folder / name)
    except OSError as error:
        raise WriteError(error.errno, f"{error.strerror}; a certificate belongs there", os.fspath(folder)) from None


@contextmanager
def written(certificate: str, key: str) -> Iterator[Mapping[str, str]]:
    """Files of a certificate for as long as the block lasts, in a folder of their own that only the user may enter.

    Yields
    ------
    mapping
        `ca_file`, `cert` and `key`.
    """
    with tempfile.TemporaryDirectory(prefix="graphdask-tls-", ignore_cleanup_errors=True) as folder:
        write(Path(folder), certificate, key)
        yield files_in(Path(folder))


def files_in(folder: Path) -> dict[str, str]:
    """The names of the files of a certificate in a folder, whether they are there or not."""
    return {"ca_file": str(folder / CERTIFICATE), "cert": str(folder / CERTIFICATE), "key": str(folder / KEY)}


__all__ = ["CERTIFICATE", "DAYS", "KEY", "files_in", "make", "write", "written"]
