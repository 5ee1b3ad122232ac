// SPDX-License-Identifier: Apache-2.0

import TerminalIO
package import YKCrypto
import YKWire
package import YKX509

extension PublicKey {
    /// The key as PEM.
    package var pem: String { PEM.encode("PUBLIC KEY", subjectPublicKeyInfo) }
}

extension X509Certificate {
    /// The certificate as PEM.
    package var pem: String { PEM.encode("CERTIFICATE", der) }
}
