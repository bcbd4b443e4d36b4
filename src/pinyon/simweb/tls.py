"""Certificates for the simulated web: an authority made at start, and a leaf for all its names.

They need the package `cryptography`, which pinyon itself does not: without it the web has no https.
"""

from __future__ import annotations

import datetime
import importlib.util
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

VALID_DAYS = 30


class Contexts(NamedTuple):
    """What the https ports use: `trusted` leads to the authority in `ca_file`, `untrusted` to nobody."""

    trusted: ssl.SSLContext
    untrusted: ssl.SSLContext
    ca_file: Path


def is_available() -> bool:
    """Whether certificates can be made."""
    return importlib.util.find_spec("cryptography") is not None


def make_contexts(directory: Path, names: Sequence[str]) -> Contexts:
    """Certificates for those names (wildcards allowed), written as PEM files into a directory."""
    ca_key, stranger_key = _key(), _key()
    ca = _certificate("simulated web authority", ca_key, ca_key, None, ())
    stranger = _certificate("nobody", stranger_key, stranger_key, None, ())
    ca_file = directory / "ca.pem"
    ca_file.write_bytes(_pem(ca))
    trusted = _context(directory / "leaf.pem", ca, ca_key, names)
    untrusted = _context(directory / "untrusted.pem", stranger, stranger_key, names)
    return Contexts(trusted, untrusted, ca_file)


def _context(
    path: Path, issuer: x509.Certificate, issuer_key: EllipticCurvePrivateKey, names: Sequence[str]
) -> ssl.SSLContext:
    from cryptography.hazmat.primitives import serialization as s

    key = _key()
    leaf = _certificate("simulated web", key, issuer_key, issuer, names)
    private = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    path.touch(mode=0o600)
    path.write_bytes(_pem(leaf) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _pem(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _certificate(
    name: str,
    key: EllipticCurvePrivateKey,
    issuer_key: EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
    names: Sequence[str],
) -> x509.Certificate:
    """A certificate as strict clients want it (RFC 5280): an authority without an issuer, else a leaf."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256

    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder(subject_name=subject, issuer_name=issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
        .add_extension(_usage(authority=issuer is None), critical=True)
    )
    if names:
        alternative = x509.SubjectAlternativeName([x509.DNSName(dns_name) for dns_name in names])
        builder = builder.add_extension(alternative, critical=False)
    return builder.sign(issuer_key, SHA256())


def _usage(*, authority: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )
