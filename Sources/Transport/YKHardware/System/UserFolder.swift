// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport

/// A folder for ykit's per-user files, by the XDG Base Directory Specification.
package enum UserFolder: Sendable {
    /// For data that can be recreated: counters, remembered passwords.
    case state
    /// For data that cannot be recreated: stores of tokens and accounts.
    case data
    /// For settings.
    case config

    /// The specification's variable.
    package var variable: String {
        switch self {
        case .state: "XDG_STATE_HOME"
        case .data: "XDG_DATA_HOME"
        case .config: "XDG_CONFIG_HOME"
        }
    }

    /// Its location below HOME when the variable is not set.
    private var placeInHome: String {
        switch self {
        case .state: ".local/state"
        case .data: ".local/share"
        case .config: ".config"
        }
    }

    /// The folder of all programs: the specification's variable, or else below HOME; `nil` when neither is an absolute path.
    package func base(_ value: (String) -> String?) -> String? {
        if let folder = value(variable), folder.hasPrefix("/") { return folder }
        guard let home = value("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/\(placeInHome)"
    }

    /// The folder of ykit, below ``base(_:)``.
    package func path(_ value: (String) -> String?) -> String? {
        base(value).map { $0 + "/ykit" }
    }

    /// Creates a folder and its parents, accessible to the owner only. Errors surface when a file is written there.
    package static func make(_ folder: String) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o700)
        }
    }

    /// Creates a folder and its parents, and checks that files can be written there.
    package static func makeWritable(_ folder: String) throws(FileFailure) {
        make(folder)
        guard access(folder, W_OK) == 0 else { throw FileFailure(.writeIn, folder) }
    }

    /// Runs `body` while a folder is locked against changes by other programs that lock it, waiting for them.
    ///
    /// - Parameter explain: Creates the caller's error; the number is `ECANCELED` after a cancellation.
    package static func locked<Value, Failure: Error>(
        _ folder: String, _ cancellation: Cancellation, explainedBy explain: (FileFailure) -> Failure,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw explain(FileFailure(.open, folder)) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard !cancellation.isCancelled else { throw explain(FileFailure(.lock, folder, ECANCELED)) }
            guard errno == EINTR else { throw explain(FileFailure(.lock, folder)) }
        }
        return try body()
    }
}
