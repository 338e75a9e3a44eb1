//! Names of devices.

use taffeta_cuda::{CudaError, number_of};

#[test]
fn devices_have_names() {
    assert_eq!(number_of("cpu"), Ok(None));
    assert_eq!(number_of("cuda"), Ok(Some(0)));
    assert_eq!(number_of("cuda:0"), Ok(Some(0)));
    assert_eq!(number_of("cuda:12"), Ok(Some(12)));
    for other in ["", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:x", "cuda:99999999999999999999999", "cpu:0"] {
        assert_eq!(number_of(other), Err(CudaError::NoName(other.into())), "{other}");
    }
}
