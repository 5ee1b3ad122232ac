// SPDX-License-Identifier: Apache-2.0

import YKWire
package import YKX509

extension X509Certificate {
    /// Reads a certificate, DER.
    ///
    /// - Throws: `notCertificate`.
    package init(reading der: [UInt8]) throws(PIVError) {
        do { try self.init(der: der) } catch { throw .notCertificate(error.description) }
    }
}
