// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKFIDO
package import YKRelyingParty
import YKWire

extension MetadataError: Explained {
    package var explanation: Explanation {
        switch self {
        case .malformed(let what):
            .malformed("the metadata list is malformed: \(what.printable)", hint: "download it again")
        case .algorithm(let name):
            Explanation(
                "metadata", .policy, "the metadata list is signed with '\(name.printable)', which is not accepted")
        case .signer(let names):
            Explanation(
                "metadata", .authentication,
                "the metadata list is signed by \(names.map(\.printable).listed()), not by \(MetadataBLOB.signer)",
                hint: "do not trust it; download the list from \(MetadataService.address)")
        case .certificate(.untrusted):
            Explanation(
                "metadata", .authentication,
                "the certificate that signed the metadata list does not chain to a trusted root",
                hint:
                    "for a list of another service, give its root certificate with --metadata-root; the FIDO Alliance's root "
                    + "may have changed: use a later version of ykit")
        case .certificate(let problem):
            Explanation(
                "metadata", .authentication, "the signer of the metadata list is not trusted: \(problem.words)",
                hint: "for a list of another service, give its root certificate with --metadata-root")
        case .signature:
            Explanation(
                "metadata", .authentication, "the signature of the metadata list is invalid",
                hint: "do not trust it; download the list from \(MetadataService.address)")
        case .rollback(let last, let number):
            Explanation(
                "metadata-rollback", .policy,
                "the metadata list is number \(number), and number \(last) was seen before: an older list may hide that a "
                    + "model was revoked", hint: "download the list from \(MetadataService.address)")
        case .http(let error): error.explanation
        case .status(let status): Explanation("server", .server, "the server answered with HTTP status \(status)")
        case .store(let reason): Explanation("metadata", .failed, "the list cannot be stored: \(reason.printable)")
        }
    }
}
