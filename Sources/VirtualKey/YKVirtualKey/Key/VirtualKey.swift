// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKTransport

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
}
