// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Why the state file of a virtual key could not be used. The file remains unchanged.
public enum VirtualKeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file could not be opened or read.
    case unreadable(path: String, errno: Int32, String)
    /// The file could not be written; the key's last operation was not carried out.
    case unwritable(path: String, errno: Int32, String)
    /// The name is a symbolic link, a folder or a device.
    case notAFile(path: String)
    /// The content is not a valid virtual key state: the line where parsing failed, or the invalid field.
    case broken(path: String, line: Int?, field: String?, reason: String)
    /// A newer version of this program wrote the file.
    case newer(path: String, format: Int64)
    /// Another program uses the file.
    case inUse(path: String, holders: [LinkError.Holder])

    /// What happened, in one line.
    public var description: String {
        switch self {
        case .unreadable(let path, _, let reason): "\(path) could not be read: \(reason)"
        case .unwritable(let path, _, let reason): "\(path) could not be written: \(reason)"
        case .notAFile(let path): "\(path) is not a plain file"
        case .broken(let path, let line, let field, let reason):
            "\(path) is not the state of a virtual key: "
                + (line.map { "line \($0): " } ?? "") + (field.map { "field \($0): " } ?? "") + reason
        case .newer(let path, let format): "\(path) has format \(format), which a newer ykit wrote"
        case .inUse(let path, let holders):
            "\(path) is used by " + (holders.isEmpty ? "another program" : holders.map(\.text).joined(separator: ", "))
        }
    }

    /// The error as a link reports it.
    var asLinkError: LinkError { .failed(code: 0, description) }
}

extension LinkError.Holder {
    fileprivate var text: String { "\(name) (process \(pid))" }
}
