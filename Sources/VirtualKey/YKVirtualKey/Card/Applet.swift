// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// A selected application of the key: it holds the session's state, while the persistent state is in
/// ``VirtualKeyState``.
///
/// A SELECT creates a new value, so a session ends with its value, unless the application keeps its session when it is
/// selected again.
package protocol Applet: Sendable {
    /// The full AID; a prefix of at least five bytes selects it too.
    static var aid: AID { get }
    /// The instruction that fetches the rest of a long reply.
    static var continuation: UInt8 { get }

    /// The class bytes of its commands, without the chaining bit.
    static var classes: Set<UInt8> { get }

    /// The capability bits, one of which must be enabled for the application to be available; 0 if it always is.
    static var capabilities: UInt32 { get }

    /// Whether selecting the application while it is selected leaves verified PINs and keys verified.
    static var survivesReselection: Bool { get }

    /// Whether the application is available on contactless readers only.
    static var isContactless: Bool { get }
    /// The vendor command of CTAPHID that carries its commands too, if there is one.
    static var tunnel: UInt8? { get }
    /// Whether holding the key to a contactless reader counts as a touch: its sensor has no power there
    /// (yubioath-flutter #1544).
    static var takesReaderForTouch: Bool { get }
    /// Whether a key of this kind opens secure channels to the application.
    static func opensChannels(on profile: DeviceProfile) -> Bool
    /// Whether the application itself currently answers the request for the rest of a long reply.
    var continues: Bool { get }
    /// Whether a key of the FIPS series with firmware 5.7 accepts the command on a contactless reader only through a
    /// secure channel.
    func needsChannel(_ command: APDU) -> Bool

    /// The memory of the application, unless that is a member of the state.
    static var memory: (any AppletMemory.Type)? { get }

    /// Creates an applet without a session.
    init()
    /// Answers SELECT.
    mutating func select(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) throws(Refusal) -> [UInt8]
    /// Sets how the next command arrived.
    mutating func arrive(by route: CommandRoute)
    /// Answers any other command.
    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8]
}

extension Applet {
    package static var continuation: UInt8 { ISO7816.getResponse }
    package static var classes: Set<UInt8> { [0x00] }
    package static var capabilities: UInt32 { 0 }
    package static var survivesReselection: Bool { false }
    package static var isContactless: Bool { false }
    package static var tunnel: UInt8? { nil }
    package static var takesReaderForTouch: Bool { false }
    package static var memory: (any AppletMemory.Type)? { nil }
    package static func opensChannels(on profile: DeviceProfile) -> Bool { true }
    package var continues: Bool { true }
    package func needsChannel(_ command: APDU) -> Bool { false }
    package mutating func arrive(by route: CommandRoute) {}
}

/// How a command arrived at an application.
package struct CommandRoute: Sendable {
    /// Whether the key is on a contactless reader.
    let isOnReader: Bool
    /// The rights of the secure channel that the command came through; `nil` without a channel.
    let channel: SecurityDomainApplet.ChannelRights?
}

/// What an application of the card stores while the key is powered off.
package protocol AppletMemory: Hashable, Sendable {
    /// Its name in the state file.
    static var member: String { get }

    /// The memory of an application that was never used.
    init()
    /// Visits its field of the state file, which is omitted if the application was never used.
    mutating func visitField(of file: inout StateFields) throws(StateFields.Fault)
}

extension AppletMemory where Self: StateRecord {
    package mutating func visitField(of file: inout StateFields) throws(StateFields.Fault) {
        try file(Self.member, &self, .record, unless: Self())
    }
}

extension VirtualKeyState {
    /// The memory of an application.
    package subscript<Memory: AppletMemory>(_ type: Memory.Type) -> Memory {
        get { memories[ObjectIdentifier(type)]?.value as? Memory ?? Memory() }
        set { memories[ObjectIdentifier(type)] = newValue == Memory() ? nil : StoredMemory(newValue) }
    }
}

/// The memory of an application that was used.
struct StoredMemory: Hashable, Sendable {
    let value: any AppletMemory

    init(_ value: some AppletMemory) { self.value = value }

    static func == (one: StoredMemory, other: StoredMemory) -> Bool {
        AnyHashable(one.value) == AnyHashable(other.value)
    }

    func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

/// Why an applet does not answer with 9000.
package enum Refusal: Error, Hashable, Sendable {
    /// The command ends with this status word.
    case status(StatusWord)
    /// The key is still waiting for a touch: the command has not ended.
    case waitingForTouch
    /// The key generates a key pair: the command has not ended, and nothing has changed.
    case computing
    /// The command has not ended; the host was told to poll again (9100), with this keepalive status.
    case stillWorking(UInt8)
    /// A CTAP2 message ends with this status.
    case ctap(UInt8)

    /// The command ends with 63Cn: a PIN or key is wrong, and n tries are left (15 stands for 15 or more).
    static func wrong(triesLeft count: Int) -> Refusal { .status(StatusWord(0x63C0 | UInt16(min(15, max(0, count))))) }
}

extension VirtualInputs {
    /// Waits for a touch.
    ///
    /// - Parameter refusal: How the command ends if the key is not touched in time.
    func requireTouch(_ purpose: [UInt8], orElse refusal: Refusal) throws(Refusal) {
        switch touch(purpose) {
        case .touched: break
        case .notTouched: throw refusal
        case .pending: throw .waitingForTouch
        }
    }
}
