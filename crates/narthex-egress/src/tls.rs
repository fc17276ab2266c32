//! Whom to believe: the public authorities as compiled in, and what the owner added. Neither the
//! environment nor the system's store is asked: both can be pointed elsewhere by whoever starts
//! the process.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::config::{EgressConfig, PolicyError};
use crate::error::EgressError;

pub(crate) fn client_config(config: &EgressConfig) -> Result<ClientConfig, EgressError> {
    let wrong = |detail: String| EgressError::Client(detail);
    let roots = roots(config).map_err(|error| wrong(error.to_string()))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(tls)
}

pub(crate) fn roots(config: &EgressConfig) -> Result<RootCertStore, PolicyError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let wrong = |detail: String| PolicyError::Roots(detail);
    let Some(pem) = &config.extra_roots else { return Ok(roots) };
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    if roots.len() == before { Err(wrong("no certificate in it".to_owned())) } else { Ok(roots) }
}
