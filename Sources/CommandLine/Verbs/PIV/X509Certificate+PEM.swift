// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire
import YKX509

extension X509Certificate {
    /// The certificate as PEM.
    package var pem: String { PEM.encode("CERTIFICATE", der) }
}
