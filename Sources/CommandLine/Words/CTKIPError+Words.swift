// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCTKIP
import YKSecurID
import YKTransport

extension CTKIPError: Explained {
    package var explanation: Explanation {
        switch self {
        case .mac:
            Explanation(
                "mac", .authentication, "the server's authentication code is wrong; the token was discarded",
                hint: "someone may have changed the exchange; ask the server's operator for another activation code")
        case .activationRefused:
            Explanation(
                "activation-refused", .authentication, "the server refused the activation code",
                hint: "it is mistyped, has expired or has been used; ask its issuer for a new one")
        case .fault(let kind, let message):
            Explanation(
                "server-fault", .failed,
                "the server reported a fault: \(message.printable)" + (kind.isEmpty ? "" : " (\(kind.printable))"))
        case .reply(let reason):
            .malformed("the server's reply is not CT-KIP: \(reason.printable)", hint: "check the address")
        case .status(let status): Explanation("server", .failed, "the server answered with HTTP status \(status)")
        case .http(.certificate(let reason)):
            HTTPError.certificate(reason).explanationWithTrust.coded("certificate")
        case .http(let error): error.explanationWithTrust
        case .xml(let error): SecurIDError.xml(error).explanation
        case .token(let error): error.explanation
        case .crypto(let fault): fault.explanation
        case .random: .random
        }
    }
}
