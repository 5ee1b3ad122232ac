// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKFIDO
import YKProtocols
import YKWire

/// A step of setting up a new key, in the order in which they are offered.
enum SetupStep: String, CaseIterable, Sendable {
    case fidoPIN, pivPIN, pivPUK, managementKey, browser, sshKey, secondKey

    /// Whether a step has to be done.
    enum State: String, Sendable {
        /// The key reports that it has not been done.
        case open
        /// The key or a file shows that it has been done.
        case done
        /// The key does not report it.
        case unknown
        /// The key has no such application.
        case unsupported
    }

    var title: String {
        switch self {
        case .fidoPIN: "FIDO2 PIN"
        case .pivPIN: "PIV PIN"
        case .pivPUK: "PIV PUK"
        case .managementKey: "PIV management key"
        case .browser: "first passkey"
        case .sshKey: "SSH key"
        case .secondKey: "second key"
        }
    }

    /// Why the step is worth doing, and what to know before it.
    var reason: String {
        switch self {
        case .fidoPIN:
            "The PIN protects passkeys and SSH keys if the key is lost. It has at least 4 characters; after 8 wrong PINs "
                + "only a reset of FIDO2 helps, which deletes all passkeys."
        case .pivPIN:
            "The PIV PIN permits signing and decrypting with the keys in the PIV slots. It has 6 to 8 characters; a new "
                + "key has 123456."
        case .pivPUK:
            "The PUK sets a new PIV PIN after three wrong ones. It has 6 to 8 characters; a new key has 12345678. Keep a "
                + "copy in a safe place, not with the key."
        case .managementKey:
            "The management key permits writing keys and certificates into PIV; the factory default is public. This generates "
                + "a random one and stores it on the key, protected by the PIV PIN."
        case .browser:
            "A page on this computer tests your browser with the key and shows what a sign-in looks like. Then add a passkey "
                + "at the sites that you use, in their security settings."
        case .sshKey:
            "The private half of this key pair never leaves the key; the files in ~/.ssh are useless without it. Add the "
                + "public key to authorized_keys, or to your account at GitHub or GitLab."
        case .secondKey:
            "A lost key cannot be restored. Set up a second one in the same way, register both everywhere, and keep the "
                + "second one in another place. Insert it and run the command when this key is done."
        }
    }

    /// The command that performs the step on a key.
    func command(_ state: SetupState) -> [String] {
        switch self {
        case .fidoPIN: ["fido2", "pin", "set"]
        case .pivPIN: ["piv", "access", "change-pin"]
        case .pivPUK: ["piv", "access", "change-puk"]
        case .managementKey: ["piv", "access", "change-management-key", "--generate", "--protect"]
        case .browser: ["fido2", "try", "--open"]
        case .sshKey: ["ssh", "generate"] + (state.needsECDSA ? ["--algorithm", "ecdsa"] : [])
        case .secondKey: ["setup"]
        }
    }

    /// Whether the step has to be done on a key; without a key every step is unknown.
    func state(_ state: SetupState) -> State {
        guard state.key != nil else { return .unknown }
        return switch self {
        case .fidoPIN:
            state.authenticator.map { $0.takesPIN ? State(isOpen: !$0.hasPIN) : .unsupported } ?? .unsupported
        case .pivPIN: state.piv.map { State(isOpen: $0.hasDefaultPIN) } ?? .unsupported
        case .pivPUK: state.piv.map { State(isOpen: $0.hasDefaultPUK) } ?? .unsupported
        case .managementKey: state.piv.map { State(isOpen: $0.hasDefaultManagementKey) } ?? .unsupported
        case .browser: state.authenticator == nil ? .unsupported : .unknown
        case .sshKey:
            state.authenticator == nil ? .unsupported : State(isOpen: state.sshFile.map { !Files.isTaken($0) })
        case .secondKey: .open
        }
    }

    /// Whether the step is for another key, and is therefore only shown.
    var isForAnotherKey: Bool { self == .secondKey }
}

extension SetupStep.State {
    init(isOpen: Bool?) { self = isOpen.map { $0 ? .open : .done } ?? .unknown }
}

extension SetupState {
    /// Whether the key does not support Ed25519.
    fileprivate var needsECDSA: Bool {
        guard let supported = authenticator?.algorithms, !supported.isEmpty else { return false }
        return !supported.contains(.edDSA)
    }

    /// The file that `ssh generate` writes without `--output`.
    fileprivate var sshFile: String? {
        Variables["HOME"].map { $0 + "/.ssh/" + (needsECDSA ? "id_ecdsa_sk" : "id_ed25519_sk") }
    }
}
