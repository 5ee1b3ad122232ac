// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHardware
public import YKTransport

/// A store of remembered access keys, by device id.
public protocol Keyring: Sendable {
    /// Returns the remembered key of a device, or `nil`.
    func key(for device: String) throws(KeyringError) -> Secret?
    /// Remembers a key, replacing one of the same device.
    func remember(_ key: borrowing Secret, for device: String) throws(KeyringError)
    /// Forgets a key; returns whether there was one.
    func forget(_ device: String) throws(KeyringError) -> Bool
    /// Forgets all keys; returns their number, if known.
    func forgetAll() throws(KeyringError) -> Int?
    /// The location, as shown to the user.
    var place: String { get }
}

extension Keyring {
    /// Whether the key of a device is remembered.
    public func holds(_ device: String) throws(KeyringError) -> Bool {
        switch try key(for: device) {
        case .some: true
        case .none: false
        }
    }
}

/// The keyring of this computer.
public enum Keyrings {
    /// Returns the Secret Service of the desktop session if available, otherwise a file of this user.
    ///
    /// - Parameter cancellation: Ends the wait for the user to unlock the keyring.
    /// - Throws: `noFolder`.
    public static func standard(cancellation: Cancellation = Cancellation()) throws(KeyringError) -> any Keyring {
        try standard(cancellation) { ProcessVariables[$0] }
    }

    package static func standard(
        _ cancellation: Cancellation, _ variable: (String) -> String?
    ) throws(KeyringError) -> any Keyring {
        if let service = SecretService(cancellation, variable) { return service }
        return try FileKeyring(cancellation, variable)
    }
}

/// Why a keyring could not be used.
public enum KeyringError: Error, Hashable, Sendable {
    /// Neither HOME nor this variable names a folder for the file.
    case noFolder(variable: String)
    /// Users other than the owner may read or change the file, so it protects nothing.
    case exposed(path: String)
    /// The file is not a keyring.
    case malformed(path: String)
    /// The encryption key file has this many bytes instead of 32; with the path of the keyring that depends on it.
    case malformedKey(path: String, bytes: Int, keyring: String)
    /// The file is larger than this many bytes.
    case tooLarge(path: String, limit: Int)
    /// The file or its folder could not be read or written.
    case file(FileFailure)
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)
    /// There is no desktop session with a Secret Service, or its program secret-tool is not installed.
    case noSecretService
    /// The Secret Service did not store the key, for example because it is locked.
    case refused
    /// The program that reaches the Secret Service failed.
    case program(ProgramError)
}
