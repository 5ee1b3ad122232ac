// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKLUKS

extension LUKSError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let name = (subject?.text ?? "the volume").printable
        return switch self {
        case .notLUKS:
            .malformed(
                "\(name) is not a LUKS volume",
                hint: "'lsblk --fs' lists the volumes: crypto_LUKS; give a detached header with --header")
        case .version(let version):
            Explanation(
                "luks-version", .notSupported, "\(name) is a volume of LUKS\(version), which has no tokens",
                hint: version == 1 ? "after a backup of its header: cryptsetup convert --type luks2 \(name)" : nil)
        case .damaged(let reason):
            .malformed(
                "the header of \(name) is damaged: \(reason.printable)",
                hint: "'cryptsetup repair' or 'cryptsetup luksHeaderRestore' with a backup")
        case .full:
            Explanation(
                "luks-full", .failed, "\(name) has no free key slot or token",
                hint: "remove one: ykit luks remove \(name) --keyslot N")
        case .noSuchSlot(let slot):
            Explanation(
                "no-such-keyslot", .notFound, "\(name) has no key slot \(slot)", hint: "ykit luks list \(name)")
        case .lastSlot(let slot):
            Explanation(
                "last-keyslot", .policy, "key slot \(slot) is the only one that opens \(name)",
                hint: "first add another key: ykit luks add \(name)")
        case .unfitKey:
            Explanation(
                "unfit-key", .notSupported, "a key in a slot opens volumes if it is RSA, or on P-256 or P-384",
                hint: "ykit piv keys generate 9d --algorithm rsa2048 PUBLIC.pem")
        case .noCryptsetup:
            Explanation(
                "no-cryptsetup", .notFound, "cryptsetup, which changes volumes, is not installed",
                hint: "apt install cryptsetup-bin")
        case .wrongPassphrase:
            Explanation("wrong-passphrase", .authentication, "the passphrase opens no key slot of \(name)")
        case .slotRemains(let slot):
            Explanation(
                "cryptsetup", .failed,
                "key slot \(slot) of \(name) was added, but not its token, and cryptsetup could not remove it again",
                hint: "cryptsetup luksKillSlot \(name) \(slot)")
        case .cryptsetup(let message, let status):
            Explanation(
                "cryptsetup", .failed,
                "cryptsetup ended with status \(status)" + (message.isEmpty ? "" : ": \(message.printable)"))
        case .program(let error): error.explanation
        }
    }
}
