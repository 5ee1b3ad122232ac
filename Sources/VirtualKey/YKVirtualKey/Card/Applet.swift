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

    /// Creates an applet without a session.
    init()
    /// Answers SELECT.
    mutating func select(_ key: inout VirtualKeyState, _ world: VirtualWorld) throws(Refusal) -> [UInt8]
    /// Answers any other command.
    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8]
}

extension Applet {
    package static var continuation: UInt8 { ISO7816.getResponse }
    package static var classes: Set<UInt8> { [0x00] }
    package static var capabilities: UInt32 { 0 }
    package static var survivesReselection: Bool { false }
}
