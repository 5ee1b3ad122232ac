// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A secure channel between the host and the applications of a card, as a stage of a ``CardChannel``: it is opened in
/// each application right after SELECT, and from then on protects every command and verifies every reply.
public protocol ChannelProtection: AnyObject {
    /// Whether the channel is open, so that commands are protected.
    var isOpen: Bool { get }

    /// Performs the one-time steps before the application is selected, such as reading the card's certificate.
    ///
    /// - Parameter card: Sends commands in the clear.
    /// - Throws: `secureChannel` when the card cannot be authenticated; the application is then not selected.
    func prepare(_ card: ClearCommands) throws(CardError)

    /// Opens the channel in the application that was just selected.
    ///
    /// - Parameters:
    ///   - aid: The application.
    ///   - card: Sends commands in the clear.
    /// - Throws: `secureChannel` when a side fails to prove possession of the keys; nothing is then sent in the clear.
    func open(in aid: AID, _ card: ClearCommands) throws(CardError)

    /// Encrypts the data of a command and appends its MAC.
    ///
    /// - Parameter form: How the command will be encoded, which the MAC covers.
    /// - Throws: `secureChannel(.ended)` after a failure.
    func protect(_ command: APDU, _ form: APDU.Form) throws(CardError) -> APDU

    /// Verifies the MAC of a reply and decrypts its data; the first failure ends the channel.
    func unprotect(_ response: ResponseAPDU) throws(CardError) -> ResponseAPDU

    /// Discards the session keys; the next ``open(in:_:)`` starts a new session.
    func end()
}

/// Sends commands to a card in the clear, for the handshake of a secure channel.
public struct ClearCommands {
    private let body: (APDU) throws(CardError) -> ResponseAPDU
    /// How commands are encoded, which a MAC covers.
    public let form: APDU.Form

    /// Wraps a function that sends a command.
    package init(_ form: APDU.Form, _ body: @escaping (APDU) throws(CardError) -> ResponseAPDU) {
        self.form = form
        self.body = body
    }

    /// Sends a command, chained if it is long, and returns the whole reply.
    public func send(_ command: APDU) throws(CardError) -> ResponseAPDU { try body(command) }
}

/// A reference to a key of a Security Domain: key identifier and key version number, one byte each (GlobalPlatform Card
/// Specification 2.3.1 §11.1.8).
public struct SCPKeyReference: Hashable, Sendable, CustomStringConvertible {
    /// The key identifier (KID), which determines the key's purpose.
    public var id: UInt8
    /// The key version number (KVN); 0 means any, if the command allows it.
    public var version: UInt8

    /// Creates a reference.
    public init(id: UInt8, version: UInt8) {
        self.id = id
        self.version = version
    }

    /// The two bytes, KID first.
    public var bytes: [UInt8] { [id, version] }
    /// Both bytes in hexadecimal, as in `0x13/0x01`.
    public var description: String { "0x\(Hex.encode([id]))/0x\(Hex.encode([version]))" }

    /// The reference as `--scp` takes it: the protocol or the KID, and the KVN, as in `11b,1`.
    package var typed: String {
        let names: [UInt8: String] = [0x01: "03", 0x10: "ca", 0x11: "11a", 0x13: "11b", 0x15: "11c"]
        return "\(names[id] ?? "0x" + Hex.encode([id])),\(version)"
    }
}

/// Why a secure channel was not opened, or was closed.
public enum SecureChannelFault: Error, Hashable, Sendable {
    /// The application does not open secure channels.
    case unsupported(AID)
    /// The card has no such key.
    case noSuchKey(SCPKeyReference)
    /// The key is blocked after too many failed attempts.
    case blocked(SCPKeyReference)
    /// The card did not prove possession of the same SCP03 keys; the host sent no proof.
    case wrongKeys(SCPKeyReference)
    /// The card did not prove possession of its certificate's private key (SCP11).
    case wrongReceipt(SCPKeyReference)
    /// The card refused the host's proof.
    case hostRefused(SCPKeyReference, StatusWord)
    /// The card refused a certificate of the host's chain, counted from 0.
    case certificateRefused(Int, StatusWord)
    /// The card has no certificate for the key, so that its public key is unknown.
    case noCertificate(SCPKeyReference)
    /// The card's certificates do not lead to a trusted one, or the key is not the expected one; with the reason.
    case untrusted(String)
    /// A reply has no MAC or a wrong one, or cannot be decrypted. The channel is closed.
    case notAuthentic
    /// The channel was closed after a failure; nothing is sent until an application is selected.
    case ended
    /// A command would be sent unprotected.
    case unprotected
    /// A key or certificate of the host is unusable; with the reason.
    case badHostKey(String)
}
