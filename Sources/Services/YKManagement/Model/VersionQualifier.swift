// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// The build of a firmware version (Yubico management interface, tag 19).
public struct VersionQualifier: Hashable, Sendable, CustomStringConvertible {
    /// The release stage of a build.
    public struct Kind: OpenSet {
        /// The code.
        public let rawValue: UInt8
        /// Wraps a code.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Alpha.
        public static let alpha = Kind(rawValue: 0)
        /// Beta.
        public static let beta = Kind(rawValue: 1)
        /// A release.
        public static let final = Kind(rawValue: 2)

        /// The kind in a word.
        public var description: String {
            switch self {
            case .alpha: "alpha"
            case .beta: "beta"
            case .final: "final"
            default: "kind \(rawValue)"
            }
        }
    }

    /// The version that the build behaves as.
    public let version: FirmwareVersion
    /// Its release stage.
    public let kind: Kind
    /// The build number within that stage.
    public let iteration: UInt8

    /// Creates a qualifier.
    public init(version: FirmwareVersion, kind: Kind, iteration: UInt8) {
        self.version = version
        self.kind = kind
        self.iteration = iteration
    }

    /// Version, kind and build, as in `5.7.2.beta.3`.
    public var description: String { "\(version).\(kind).\(iteration)" }
}
