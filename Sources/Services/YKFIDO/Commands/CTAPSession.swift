// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
public import YKWire

/// Sends typed commands over a FIDO link and reads their answers.
final class CTAPSession {
    let link: any FIDOLink
    /// The longest message that the key accepts, in bytes (getInfo, key 05).
    var messageLimit = CTAPSession.defaultMessageLimit
    /// Whether non-canonical responses are refused.
    var mode = CBOR.Mode.lenient
    /// The deadline of an operation with several messages; each message is also limited by the environment's timeout.
    var limit: Deadline?
    /// Publishes what the key is doing while it works.
    let progress: Broadcast<FIDOKeepalive>
    /// The number of messages sent.
    private(set) var messages = 0
    private let runtime: ServiceRuntime?
    private let touch: TouchWait
    /// The depth of nested operations that share one touch prompt.
    private var promptDepth = 0

    /// The minimum that every key accepts (CTAP 2.2 §6.4).
    static let defaultMessageLimit = 1024

    init(
        _ link: any FIDOLink, _ runtime: ServiceRuntime? = nil,
        progress: Broadcast<FIDOKeepalive> = Broadcast(), touch: @escaping @Sendable () async -> Void = {}
    ) {
        self.link = link
        self.runtime = runtime
        self.progress = progress
        self.touch = TouchWait(touch)
    }

    var environment: ServiceEnvironment { link.environment }

    /// The deadline for a message sent now.
    func deadline() -> Deadline { environment.deadline().earlier(limit) }

    /// Sends a command; a status other than 00 throws `status`.
    func send<Command: CTAPCommand>(_ command: Command) throws(CTAPError) -> Command.Response {
        let reply = try exchange(command.message, during: command.name)
        return try lift({ CTAPError.malformed($0, during: command.name) }) { () throws(WireError) in
            var reader = ByteReader(reply)
            _ = try reader.byte("the status")
            guard !reader.isAtEnd else { return try command.decode(try CBOR.Fields(decoding: [0xA0], command.name)) }
            let fields = try reader.cborFields(command.name, mode)
            try reader.finish(command.name)
            return try command.decode(fields)
        }
    }

    /// Sends a CTAP2 message unchanged and returns the whole response, whose status is 00.
    func exchange(_ message: [UInt8], during name: String) throws(CTAPError) -> [UInt8] {
        let limit = messageLimit
        guard message.count <= limit else { throw .tooLong(bytes: message.count, limit: limit, during: name) }
        let reply = try call(.cbor, message)
        guard let status = reply.first.map(CTAPStatus.init(rawValue:)) else {
            throw .malformed(WireError(.truncated, at: 0, "an answer without a status"), during: name)
        }
        guard status == .ok else { throw .status(status, during: name) }
        return reply
    }

    /// Sends a message of any kind.
    func call(_ command: CTAPHID.Command, _ payload: [UInt8]) throws(CTAPError) -> [UInt8] {
        try lift(CTAPError.link) { () throws(FIDOLinkError) in
            guard let runtime else { return try callNow(command, payload) }
            return try runtime.perform(FIDOLinkError.device, cause: \.link) { () throws(FIDOLinkError) in
                try callNow(command, payload)
            }
        }
    }

    private func callNow(_ command: CTAPHID.Command, _ payload: [UInt8]) throws(FIDOLinkError) -> [UInt8] {
        let deadline = deadline()
        if deadline.isCancelled { throw .device(.cancelled) }
        messages += 1
        return try keepingTouchPrompt { () throws(FIDOLinkError) in
            try link.call(command, payload, deadline: deadline, keepalive: tell)
        }
    }

    /// Publishes what the key is doing.
    func tell(_ status: FIDOKeepalive) {
        progress.send(status)
        if status == .touchNeeded { touch.begin() }
    }

    /// Runs an operation, keeps a touch prompt visible across its messages, and removes the prompt at the end.
    func keepingTouchPrompt<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        promptDepth += 1
        defer {
            promptDepth -= 1
            if promptDepth == 0 { touch.end() }
        }
        return try body()
    }

    /// Generates random bytes.
    func draw(_ count: Int, secret: Bool) throws(CTAPError) -> [UInt8] {
        try lift({ CTAPError.link(.device($0)) }) { () throws(LinkError) in
            try environment.random.draw(count, secret: secret)
        }
    }
}

/// A CTAP2 command (CTAP 2.2 §6): its encoding and the type of its response.
public protocol CTAPCommand {
    /// The decoded response.
    associatedtype Response

    /// The command byte.
    var code: CTAPCommandCode { get }
    /// The name in the specification, including any subcommand.
    var name: String { get }
    /// The parameters; `nil` for a command without any.
    var parameters: CBOR.Map? { get }
    /// Decodes the response map; a response without a map is passed as an empty one.
    func decode(_ fields: CBOR.Fields) throws(WireError) -> Response
}

extension CTAPCommand {
    /// The encoded message: the command byte, then the parameters in canonical CBOR (CTAP 2.2 §8.1).
    public var message: [UInt8] {
        var message = [code.rawValue]
        if let parameters { CBOR.map(parameters).write(to: &message) }
        return message
    }
}

extension CTAPCommand where Response == Void {
    /// Ignores the response, which is empty except on some firmware.
    public func decode(_ fields: CBOR.Fields) {}
}

/// The first byte of a CTAP2 message (CTAP 2.2 §6).
public struct CTAPCommandCode: OpenSet {
    /// The byte.
    public let rawValue: UInt8
    /// Wraps a byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// authenticatorMakeCredential.
    public static let makeCredential = CTAPCommandCode(rawValue: CTAPProtocol.Command.makeCredential)
    /// authenticatorGetAssertion.
    public static let getAssertion = CTAPCommandCode(rawValue: CTAPProtocol.Command.getAssertion)
    /// authenticatorGetInfo.
    public static let getInfo = CTAPCommandCode(rawValue: CTAPProtocol.Command.getInfo)
    /// authenticatorClientPIN.
    public static let clientPIN = CTAPCommandCode(rawValue: CTAPProtocol.Command.clientPIN)
    /// authenticatorReset.
    public static let reset = CTAPCommandCode(rawValue: CTAPProtocol.Command.reset)
    /// authenticatorGetNextAssertion.
    public static let getNextAssertion = CTAPCommandCode(rawValue: CTAPProtocol.Command.getNextAssertion)
    /// authenticatorBioEnrollment.
    public static let bioEnrollment = CTAPCommandCode(rawValue: CTAPProtocol.Command.bioEnrollment)
    /// authenticatorCredentialManagement.
    public static let credentialManagement = CTAPCommandCode(rawValue: CTAPProtocol.Command.credentialManagement)
    /// authenticatorSelection.
    public static let selection = CTAPCommandCode(rawValue: CTAPProtocol.Command.selection)
    /// authenticatorLargeBlobs.
    public static let largeBlobs = CTAPCommandCode(rawValue: CTAPProtocol.Command.largeBlobs)
    /// authenticatorConfig.
    public static let config = CTAPCommandCode(rawValue: CTAPProtocol.Command.config)
    /// authenticatorBioEnrollment on FIDO_2_1_PRE keys.
    public static let bioEnrollmentPreview = CTAPCommandCode(rawValue: CTAPProtocol.Command.bioEnrollmentPreview)
    /// authenticatorCredentialManagement on FIDO_2_1_PRE keys.
    public static let credentialManagementPreview = CTAPCommandCode(
        rawValue: CTAPProtocol.Command.credentialManagementPreview)
}

/// Reads the key's capabilities (authenticatorGetInfo, CTAP 2.2 §6.4).
public struct GetInfo: CTAPCommand, Sendable, Hashable {
    /// Creates a command.
    public init() {}
    /// The command byte.
    public var code: CTAPCommandCode { .getInfo }
    /// The name in the specification.
    public var name: String { "getInfo" }
    /// No parameters.
    public var parameters: CBOR.Map? { nil }
    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> AuthenticatorInfo {
        try AuthenticatorInfo(fields)
    }
}

/// Erases all credentials and the PIN (authenticatorReset, CTAP 2.2 §6.6). Most keys accept it only within ten seconds
/// after being plugged in, and require a touch.
public struct ResetAuthenticator: CTAPCommand, Sendable, Hashable {
    /// No response data.
    public typealias Response = Void
    /// Creates a command.
    public init() {}
    /// The command byte.
    public var code: CTAPCommandCode { .reset }
    /// The name in the specification.
    public var name: String { "reset" }
    /// No parameters.
    public var parameters: CBOR.Map? { nil }
}

/// Waits for a touch, so that the user can select one of several keys (authenticatorSelection, CTAP 2.2 §6.9).
public struct SelectAuthenticator: CTAPCommand, Sendable, Hashable {
    /// No response data.
    public typealias Response = Void
    /// Creates a command.
    public init() {}
    /// The command byte.
    public var code: CTAPCommandCode { .selection }
    /// The name in the specification.
    public var name: String { "selection" }
    /// No parameters.
    public var parameters: CBOR.Map? { nil }
}
