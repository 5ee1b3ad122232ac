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
        var file: VirtualKeyFile?
        var holder: UInt64?
        var lastUser: UInt64?
        var links: UInt64 = 0
    }

    /// Makes a key that keeps its state in memory.
    public init(_ state: VirtualKeyState, world: VirtualWorld = VirtualWorld()) {
        self.world = world
        body = Mutex(Body(card: VirtualCard(state)))
    }

    /// Makes a key that keeps its state in a file; when there is none, a new key without accounts is written.
    ///
    /// A file that another program uses is waited for as long as `patience`. Throws what is wrong with the file, which
    /// is then left as it is.
    public init(
        file path: String, world: VirtualWorld = VirtualWorld(), profile: DeviceProfile? = nil,
        patience: Duration = .seconds(2)
    ) throws(VirtualKeyFileError) {
        self.world = world
        var file = VirtualKeyFile(path)
        try file.createIfMissing { () throws(LinkError) in
            let profile = if let profile { profile } else { try DeviceProfile.random(world.random) }
            return try VirtualKeyState.new(profile, random: world.random)
        }
        let state = try file.read(.after(patience))
        body = Mutex(Body(card: VirtualCard(state), file: file))
    }

    /// The key of demonstrations and examples, in memory.
    public static func demonstration(world: VirtualWorld = VirtualWorld()) -> VirtualKey {
        VirtualKey(.demonstration(), world: world)
    }

    /// What the key keeps without power, as it was used last.
    public var state: VirtualKeyState { body.withLock { $0.card.state } }

    /// Connects a program to the key.
    public func link() -> sending any CardLink {
        VirtualKeyLink(key: self, number: nextLink())
    }
}
