// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKAge
import YKApproval
import YKArculus
import YKCTKIP
package import YKCapture
import YKDesktop
import YKFIDO
import YKHSMAuth
import YKHTTP
import YKHardware
import YKInteraction
import YKKeyAgent
import YKKeys
import YKManagement
import YKNFC
import YKOATH
import YKOTP
import YKOpenPGP
import YKPIV
package import YKSSH
import YKSecondFactor
import YKSecurID
import YKSecurityDomain
import YKStore
import YKToken
import YKTokenStore
import YKTransport
import YKUse
import YKVirtualKey
import YKWire
import YKX509

/// Turns errors of every layer into explanations.
package enum Explain {
    package static func explain(_ error: any Error) -> Explanation {
        switch error {
        case let explained as Explanation: explained
        case let error as KeyError: keys(error)
        case let error as LinkError: link(error)
        case let error as CardError: card(error)
        case let error as ManagementError: management(error)
        case let error as OATHError: oath(error)
        case let error as TagError: tag(error)
        case let error as TokenError: token(error)
        case let error as OTPValidationError: validation(error)
        case let error as OTPError: otp(error)
        case let error as FIDOError: fido(error)
        case let error as PIVError: piv(error)
        case let error as CredentialError: credential(error)
        case let error as PIVUnlockingError: pivAccess(error)
        case is TouchMissed: touchMissed
        case let error as X509NameError:
            .usage(
                "this is not a name for a certificate: \(error.reason.printable)", hint: "as in CN=Alice,O=Example,C=DE"
            )
        case let error as HSMAuthError: hsmAuth(error)
        case let error as SecurityDomainError: securityDomain(error)
        case let error as OpenPGPError: openPGP(error)
        case let error as WebAuthnError: webAuthn(error)
        case let error as ArculusError: arculus(error)
        case let error as HTTPError: http(error)
        case let error as KeyringError: keyring(error)
        case let error as ProgramError: program(error)
        case let error as DesktopError: desktop(error)
        case let error as QRError: qr(error)
        case let error as ImportError: imported(error)
        case let error as SecurIDError: securID(error)
        case let error as CTKIPError: ctkip(error)
        case let error as TokenStoreError: tokenStore(error)
        case let error as SSHError: ssh(error)
        case let error as AgentSocketError: agentSocket(error)
        case AgeError.connection(let words): Explanation("connection", .failed, words.printable)
        case let error as AgeError: malformed(error.description.printable)
        case let error as SecondFactorError: secondFactor(error)
        case let error as VaultError: vault(error)
        case let error as StoreError: store(error)
        case let error as ApprovalError: approval(error)
        case let error as PushRequestFault: request(error)
        case let error as ServerError: serverError(error)
        case let error as CTAPError: ctap(error)
        case let error as FIDOLinkError: fidoLink(error)
        case let error as VerificationProblem: verification(error)
        case let error as FormatError: malformed("\(error)".printable)
        case let error as CaptureError: capture(error)
        case let error as VirtualKeyFileError: virtualKey(error)
        case let error as WireError: malformed("the input cannot be read: \(error)")
        default: Explanation("failed", .failed, "\(error)")
        }
    }

    package static func malformed(_ message: String, hint: String? = nil) -> Explanation {
        Explanation("malformed", .malformed, message, hint: hint)
    }

    package static func ssh(_ error: SSHError) -> Explanation {
        switch error {
        case .encrypted:
            Explanation(
                "encrypted", .notSupported, "\(error)",
                hint:
                    "take the passphrase off with 'ssh-keygen -p -f FILE', since the file holds no secret; or install "
                    + "libbotan-2-19, for aes256-ctr")
        case .wrongPassphrase:
            Explanation("file-password-wrong", .authentication, "wrong passphrase of the key file")
        case .notInSecurityKey(let type):
            Explanation(
                "no-security-key", .notSupported, "a private key of type '\(type.printable)' is not in a security key",
                hint: "a key file of 'ykit ssh generate' or 'ssh-keygen -t ed25519-sk' is meant")
        case .unsupportedKey(let type):
            Explanation("not-supported", .notSupported, "a key of type '\(type.printable)' is not used here")
        case .malformed(let words): malformed(words.printable)
        case .wrongSignature(let words): Explanation("wrong-signature", .authentication, words.printable)
        }
    }

    package static func capture(_ error: CaptureError, in file: String? = nil) -> Explanation {
        malformed(
            "\(file.map { $0 == "-" ? "standard input" : $0.printable } ?? "this") is not a recording of ykit: \(error)",
            hint: "ykit --record FILE makes one, ykit capture import one of another tool's log")
    }
}
