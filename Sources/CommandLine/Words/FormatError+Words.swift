// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKAge
package import YKCrypto
package import YKFIDO
package import YKWire
package import YKX509

extension WireError: Explained {
    package var explanation: Explanation { .malformed("the input cannot be read: \(self)") }
}

extension FormatError: Explained {
    package var explanation: Explanation { .malformed("\(self)".printable) }
}

extension CryptoFault: Explained {
    package var explanation: Explanation { Explanation("crypto", .failed, "\(self)") }
}

extension X509NameError: Explained {
    package var explanation: Explanation {
        .usage(
            "this is not a valid certificate subject: \(reason.printable)", hint: "as in CN=Alice,O=Example,C=DE")
    }
}

extension AgeError: Explained {
    package var explanation: Explanation {
        switch self {
        case .connection(let words): Explanation("connection", .failed, words.printable)
        case .malformed(let words), .refused(let words): .malformed(words.printable)
        }
    }
}
