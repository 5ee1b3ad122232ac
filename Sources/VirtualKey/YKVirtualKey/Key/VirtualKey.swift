// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKHardware
public import YKTransport
import YKWire

/// A virtual security key. Connect to it with ``link()``, or plug it into a real smart card service with
/// `VPCDServer`.
///
/// All links of a key share its state, as all programs share a key in a port.
public final class VirtualKey: Sendable {
    /// The inputs of the key.
    public let inputs: VirtualInputs
    let body: Mutex<Body>

    struct Body {
        var card: VirtualCard
        var file: VirtualKeyFile?
        var holder: UInt64?
        var lastUser: UInt64?
        var links: UInt64 = 0
    }

    /// Creates a key with its state in memory.
    public init(_ state: VirtualKeyState, inputs: VirtualInputs = VirtualInputs()) {
        self.inputs = inputs
        body = Mutex(Body(card: VirtualCard(state)))
    }

    /// Creates a key with its state in a file; a missing file is created with a new key without accounts.
    ///
    /// - Parameters:
    ///   - path: The state file.
    ///   - inputs: The inputs of the key.
    ///   - profile: The profile of a new key; by default one with a random serial number.
    ///   - patience: How long to wait while another program uses the file.
    /// - Throws: `VirtualKeyFileError` if the file is invalid or cannot be used; it remains unchanged.
    public init(
        file path: String, inputs: VirtualInputs = VirtualInputs(), profile: DeviceProfile? = nil,
        patience: Duration = .seconds(2)
    ) throws(VirtualKeyFileError) {
        self.inputs = inputs
        var file = VirtualKeyFile(path)
        try file.createIfMissing { () throws(LinkError) in
            let profile = if let profile { profile } else { try DeviceProfile.random(inputs.random) }
            return try VirtualKeyState.new(profile, random: inputs.random)
        }
        let state = try file.read(.after(patience))
        body = Mutex(Body(card: VirtualCard(state), file: file))
    }

    /// The key for demonstrations and examples, in memory.
    public static func demonstration(inputs: VirtualInputs = VirtualInputs()) -> VirtualKey {
        VirtualKey(.demonstration(), inputs: inputs)
    }

    /// The persistent state of the key after its last use.
    public var state: VirtualKeyState { body.withLock { $0.card.state } }

    /// Connects a program to the key.
    public func link() -> sending any CardLink {
        VirtualKeyLink(key: self, number: nextLink())
    }

    /// The name of the virtual key's reader.
    package static let readerName = "ykit virtual YubiKey"

    /// Reserves the key for a link until ``release(_:)``; `nil` while another link has it. Returns whether another link
    /// or program has used or reset the key since this link last had it.
    package func hold(_ number: UInt64) throws(LinkError) -> Bool? {
        try using { body throws(VirtualKeyFileError) in
            guard body.holder == nil else { return nil }
            let isChanged: Bool
            if body.file != nil {
                guard let changed = try body.lockFile() else { return nil }
                isChanged = changed
            } else {
                isChanged = false
            }
            body.holder = number
            defer { body.lastUser = number }
            return isChanged || body.lastUser.map { $0 != number } ?? false
        }
    }

    package func release(_ number: UInt64) {
        body.withLock { body in
            guard body.holder == number else { return }
            body.holder = nil
            body.file?.unlock()
        }
    }

    /// Processes a command APDU and returns its response; `nil` while the key waits for a touch. Waits while the key
    /// generates a key pair. If the new state cannot be saved, the change is discarded.
    ///
    /// - Throws: `LinkError.cancelled` if `isCancelled` becomes true while the key generates a key pair; the state is
    ///   then unchanged.
    package func exchange(
        _ command: [UInt8], unless isCancelled: () -> Bool = { false }
    ) throws(LinkError) -> [UInt8]? {
        while true {
            switch try attempt(command) {
            case .response(let bytes): return bytes
            case .waiting: return nil
            case .computing:
                if isCancelled() { throw .cancelled }
                Pause.step(.after(.milliseconds(1)), atMost: 1)
            }
        }
    }

    /// Processes a command APDU as far as possible without waiting. If the new state cannot be saved, the change is
    /// discarded.
    package func attempt(_ command: [UInt8]) throws(LinkError) -> VirtualCard.Outcome {
        try using { body throws(VirtualKeyFileError) in
            var card = body.card
            let outcome = card.attempt(command, inputs)
            if card.state != body.card.state { try body.file?.save(card.state) }
            body.card = card
            return outcome
        }
    }

    /// Uses the FIDO application independently of the card; waiting for a touch changes nothing. Waits for a file that
    /// another program has locked.
    func fido(
        _ use: (inout FIDOAuthenticator) throws(Refusal) -> [UInt8]
    ) throws(LinkError) -> VirtualHID.Outcome {
        let change = try change { key throws(Refusal) in
            var authenticator = FIDOAuthenticator(key, inputs)
            defer { authenticator.store(in: &key) }
            return try use(&authenticator)
        }
        switch change {
        case .answer(let bytes): return .answer(bytes)
        case .refused(let word): return .answer([word.sw1, word.sw2])
        case .waiting: return .waiting
        case .computing: return .computing
        }
    }

    /// Passes a command received in a vendor command of CTAPHID to its application.
    func tunnel(_ message: CTAPHID.Message) -> VirtualHID.Outcome {
        let outcome = try? whileFree { body throws(VirtualKeyFileError) in
            var card = body.card
            let outcome = card.tunnel(message.payload, by: message.command.rawValue, inputs)
            if card.state != body.card.state { try body.file?.save(card.state) }
            body.card = card
            return outcome
        }
        return outcome ?? .refused(.other)
    }

    /// The result of a change to the key's state.
    enum Change: Sendable {
        /// The answer; a CTAP2 error status is an answer too.
        case answer([UInt8])
        /// The request was refused; changes made before that are kept.
        case refused(StatusWord)
        /// The key waits for a touch, and nothing has changed.
        case waiting
        /// The key generates a key pair, and nothing has changed.
        case computing
    }

    /// Uses the key's state independently of the card. Waits for a file that another program has locked.
    func change(_ use: (inout VirtualKeyState) throws(Refusal) -> [UInt8]) throws(LinkError) -> Change {
        try whileFree { body throws(VirtualKeyFileError) in try body.change(use) }
    }

    /// Uses the key, after waiting until no other program has locked its file.
    private func whileFree<Value: Sendable>(
        _ use: (inout Body) throws(VirtualKeyFileError) -> Value
    ) throws(LinkError) -> Value {
        let deadline = Deadline.after(.seconds(2))
        while true {
            if let value = try ifFree(use) { return value }
            guard !deadline.isOver else { throw .busy(reader: Self.readerName, holders: holders) }
            Pause.step(deadline)
        }
    }

    private func ifFree<Value: Sendable>(
        _ use: (inout Body) throws(VirtualKeyFileError) -> Value
    ) throws(LinkError) -> Value? {
        try using { body throws(VirtualKeyFileError) in
            if body.holder == nil, body.file != nil {
                let (fido, otp) = (body.card.state.fidoPower, body.card.state.otpPower)
                guard try body.lockFile() != nil else { return nil }
                (body.card.state.fidoPower, body.card.state.otpPower) = (fido, otp)
            }
            defer { if body.holder == nil { body.file?.unlock() } }
            return try use(&body)
        }
    }

    /// Ends the card's session, as when a reader powers the card off while the key stays in the port.
    package func deselect() { body.withLock { $0.card.deselect() } }

    /// Returns a number for a new link.
    package func nextLink() -> UInt64 {
        body.withLock { body in
            body.links += 1
            return body.links
        }
    }

    package func powerOff() { body.withLock { $0.card.powerOff() } }

    /// The programs that have the state file open.
    var holders: [LinkError.Holder] {
        body.withLock { $0.file?.path }.map(Processes.lockHolders) ?? []
    }

    private func using<Value: Sendable>(
        _ use: (inout Body) throws(VirtualKeyFileError) -> Value
    ) throws(LinkError) -> Value {
        try lift(\VirtualKeyFileError.asLinkError) { () throws(VirtualKeyFileError) in
            try body.withLock { body throws(VirtualKeyFileError) in try use(&body) }
        }
    }
}

extension VirtualKey.Body {
    /// Applies a change; if it cannot be saved, it is discarded.
    fileprivate mutating func change(
        _ use: (inout VirtualKeyState) throws(Refusal) -> [UInt8]
    ) throws(VirtualKeyFileError) -> VirtualKey.Change {
        var card = card
        let change: VirtualKey.Change
        do throws(Refusal) { change = .answer(try use(&card.state)) } catch {
            switch error {
            case .waitingForTouch, .stillWorking: return .waiting
            case .computing: return .computing
            case .ctap(let status): change = .answer([status])
            case .status(let word): change = .refused(word)
            }
        }
        if card.state != self.card.state { try file?.save(card.state) }
        self.card = card
        return change
    }

    /// Locks the file and reads what another program wrote; `nil` while that program has it locked.
    fileprivate mutating func lockFile() throws(VirtualKeyFileError) -> Bool? {
        guard var file, try file.lock() else { return nil }
        do {
            let isChanged = file.hasChanged
            if isChanged { card = VirtualCard(try file.load(), isOnReader: card.isOnReader) }
            self.file = file
            return isChanged
        } catch {
            file.unlock()
            throw error
        }
    }
}

extension VirtualKeyFile {
    /// Reads the state under the lock, waiting a short time for another program that holds it.
    mutating func read(_ deadline: Deadline) throws(VirtualKeyFileError) -> VirtualKeyState {
        while true {
            if try lock() { break }
            guard !deadline.isOver else { throw .inUse(path: path, holders: Processes.lockHolders(of: path)) }
            Pause.step(deadline)
        }
        defer { unlock() }
        return try load()
    }
}
