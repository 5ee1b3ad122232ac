// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKFIDO
import YKKeys
import YKWire

/// A step of setting up a new key, in the order in which they are offered.
enum SetupStep: String, CaseIterable, Reportable {
    case fidoPIN, pivPIN, pivPUK, managementKey, otherPINs, browser, sshKey, `guard`, secondKey

    /// Whether a step has to be done.
    enum State: String, CaseIterable, Reportable {
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
        case .otherPINs: "OpenPGP and YubiHSM Auth"
        case .browser: "first passkey"
        case .sshKey: "SSH key"
        case .guard: "the key in every program"
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
        case .otherPINs:
            "If you use OpenPGP, change its PINs: the factory user PIN is 123456, the admin PIN 12345678 ('ykit openpgp access "
                + "change-pin' and 'change-admin-pin'). If you use YubiHSM Auth, change its management password, whose "
                + "factory default is empty ('ykit hsmauth change-management-password'). The key does not report whether they "
                + "were changed."
        case .browser:
            "A page on this computer tests your browser with the key and shows what a sign-in looks like. Then add a passkey "
                + "at the sites that you use, in their security settings."
        case .sshKey:
            "The private half of this key pair never leaves the key; the files in ~/.ssh are useless without it. Add the "
                + "public key to authorized_keys, or to your account at GitHub or GitLab. Each key needs a key pair of its own."
        case .guard:
            "Programs that cannot ask for a PIN or say why the key blinks, such as Electron applications and logins, use the "
                + "key through a guard: each use is shown with its site and confirmed, and the PIN is entered in one place."
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
        case .otherPINs:
            state.hasOpenPGP
                ? ["openpgp", "access", "change-admin-pin"] : ["hsmauth", "change-management-password"]
        case .browser: ["fido2", "try", "--open"]
        case .sshKey:
            ["ssh", "generate"] + (state.needsECDSA ? ["--algorithm", "ecdsa"] : [])
                + (state.freeSSHFile.map { ["--output", $0] } ?? [])
        case .guard: ["guard"]
        case .secondKey: ["setup"]
        }
    }

    /// The commands of the system that perform the step; `nil` where it is one of ykit's.
    func systemCommand(_ state: SetupState) -> String? {
        guard self == .guard else { return nil }
        let asking = state.hasDesktop ? "systemctl --user enable --now ykit-guard" : "ykit guard"
        return "sudo systemctl enable --now ykit-guard.socket && \(asking)"
    }

    /// Whether the step has to be done on a key; without a key every step is unknown.
    func state(_ state: SetupState) -> State {
        if self == .guard, !state.guardParts.hasUnits || !state.guardParts.hasUHID { return .unsupported }
        guard state.key != nil else { return .unknown }
        return switch self {
        case .fidoPIN:
            state.authenticator.map { $0.takesPIN ? State(isOpen: !$0.hasPIN) : .unsupported } ?? .unsupported
        case .pivPIN: state.piv.map { State(isOpen: $0.hasDefaultPIN) } ?? .unsupported
        case .pivPUK: state.piv.map { State(isOpen: $0.hasDefaultPUK) } ?? .unsupported
        case .managementKey: state.piv.map { State(isOpen: $0.hasDefaultManagementKey) } ?? .unsupported
        case .otherPINs: state.hasOpenPGP || state.hasHSMAuth ? .unknown : .unsupported
        case .browser: state.authenticator == nil ? .unsupported : .unknown
        case .sshKey: state.authenticator == nil ? .unsupported : State(isOpen: state.hasSSHKey.map { !$0 })
        case .guard: state.authenticator == nil ? .unsupported : State(isOpen: !state.guardParts.isEnabled)
        case .secondKey: .open
        }
    }

    /// Whether the step is for another key.
    var isForAnotherKey: Bool { self == .secondKey }

    /// Whether the command itself uses the key, so that it has to name it.
    var usesKey: Bool { !isForAnotherKey && self != .browser && self != .guard }

    /// Whether the step is only shown: it is for another key, concerns only some people, or needs root.
    var isOnlyShown: Bool { isForAnotherKey || self == .otherPINs || self == .guard }
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

    /// The file for the SSH key of this key if the one that `ssh generate` writes without `--output` exists.
    fileprivate var freeSSHFile: String? {
        guard let home else { return nil }
        let standard = "\(home)/.ssh/id_\(needsECDSA ? "ecdsa" : "ed25519")_sk"
        guard Files.isTaken(standard) else { return nil }
        let names = [key?.serial.map { "\(standard)_\($0)" }].compactMap(\.self) + (2...99).map { "\(standard)_\($0)" }
        return names.first { !Files.isTaken($0) && !Files.isTaken($0 + ".pub") }
    }
}
