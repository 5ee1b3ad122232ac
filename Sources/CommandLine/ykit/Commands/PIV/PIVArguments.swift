// SPDX-License-Identifier: Apache-2.0

public import Arguments
import YKCrypto
public import YKPIV

extension PIVSlot: ExpressibleByArgument {
    /// Reads the digits or the name of a slot.
    public init?(argument: String) { self.init(argument) }

    /// What is said of a slot in help.
    static let help: ArgumentHelp = "One of 9a, 9c, 9d, 9e, 82 to 95, f9; 'ykit help slots' names them."

    /// What the shell offers.
    public static var choices: [String] { (main + retired + [.attestation]).map(\.description) }
}

extension PIVAlgorithm: ExpressibleByArgument {
    /// Its name, for the help.
    public var defaultValueDescription: String { description }

    /// Reads the name of a kind of key.
    public init?(argument: String) { self.init(argument) }

    /// What can stand there.
    public static var allValueStrings: [String] { known.map(\.description) }
}

extension PIVObjectID: ExpressibleByArgument {
    /// Reads the name or the digits of an object.
    public init?(argument: String) { self.init(argument) }
}

extension ManagementKeyType: ExpressibleByArgument {
    /// Its name, for the help.
    public var defaultValueDescription: String { description }

    /// Reads the name of a cipher.
    public init?(argument: String) { self.init(argument) }

    /// What can stand there.
    public static var allValueStrings: [String] { known.map(\.description) }
}

extension PINPolicy: ExpressibleByArgument {
    /// Its name, for the help.
    public var defaultValueDescription: String { description }

    /// Reads the name of a policy.
    public init?(argument: String) { self.init(argument) }

    /// What can stand there.
    public static var allValueStrings: [String] {
        [usual, never, once, always, matchOnce, matchAlways].map(\.description)
    }
}

extension TouchPolicy: ExpressibleByArgument {
    /// Its name, for the help.
    public var defaultValueDescription: String { description }

    /// Reads the name of a policy.
    public init?(argument: String) { self.init(argument) }

    /// What can stand there.
    public static var allValueStrings: [String] { [usual, never, always, cached].map(\.description) }
}

/// A hash function by its name.
enum HashChoice: String, CaseIterable, ExpressibleByArgument {
    case sha1, sha256, sha384, sha512

    var algorithm: HashAlgorithm {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}
