// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKTransport

/// A security key in software: plug it in with ``link()``, or into a real smart card service with ``VPCDServer``.
///
/// All links of one key share its memory, as all programs share a key in a port.
public final class VirtualKey: Sendable {
    /// What the key needs from outside.
    public let world: VirtualWorld
    let body: Mutex<Body>

    struct Body {
        var card: VirtualCard
        var holder: UInt64?
        var lastUser: UInt64?
        var links: UInt64 = 0
    }

    /// Makes a key that keeps its state in memory.
    public init(_ state: VirtualKeyState, world: VirtualWorld = VirtualWorld()) {
        self.world = world
        body = Mutex(Body(card: VirtualCard(state)))
    }

    /// The key of demonstrations and examples, in memory.
    public static func demonstration(world: VirtualWorld = VirtualWorld()) -> VirtualKey {
        VirtualKey(.demonstration(), world: world)
    }

    /// What the key keeps without power, as it is now.
    public var state: VirtualKeyState { body.withLock { $0.card.state } }

    /// Connects a program to the key; the card is powered until the link is closed.
    public func link() -> sending any CardLink {
        let number = body.withLock { body in
            body.links += 1
            return body.links
        }
        return VirtualKeyLink(key: self, number: number)
    }
}
