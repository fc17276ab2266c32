//! TLS with rustls, from a certificate and a key in PEM files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// What it takes to speak TLS.
#[derive(Clone)]
pub struct Tls(pub(super) TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(…)")
    }
}

/// TLS that cannot be set up. Names the file, never what is in it.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No certificate in the file, or no file.
    #[error("no certificate could be read from {}", .0.display())]
    Certificate(PathBuf),
    /// No key in the file, or no file.
    #[error("no private key could be read from {}", .0.display())]
    Key(PathBuf),
    /// The two do not go together, or are of a kind that is not taken.
    #[error("the certificate and its key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

impl Tls {
    /// Reads a certificate chain and its key.
    pub fn from_pem_files(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        let no_certificate = || TlsError::Certificate(certificates.to_owned());
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect)
            .map_err(|_| no_certificate())?;
        if chain.is_empty() {
            return Err(no_certificate());
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|_| TlsError::Key(key.to_owned()))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        // HTTP/1.1 and nothing else: what is not spoken cannot be attacked.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}
