// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKKeys

/// The selected key, from the options or the environment.
package struct Selection: Sendable, Hashable {
    package var device: String?
    package var reader: String?
    package var path: String?
    package var link: LinkChoice = .auto
    package var timeout: Double = 30
    /// Whether the timeout was set by the user.
    var hasTimeout = false

    package init() {}

    /// The selection for the library.
    package var key: KeySelection {
        KeySelection(serial: device, reader: reader, path: path, transport: link.transport)
    }

    /// Reads the options, then the environment; an invalid value is a usage error.
    package init(_ options: GlobalOptions, variable: (String) -> String? = { Variables[$0] }) throws(Explanation) {
        func read(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        device = options.device ?? read("YKIT_DEVICE")
        reader = options.reader ?? read("YKIT_READER")
        path = options.path ?? read("YKIT_PATH")
        if let choice = options.link {
            link = choice
        } else if let word = read("YKIT_LINK") {
            guard let choice = LinkChoice(rawValue: word) else {
                throw .usage("YKIT_LINK is '\(word)', expected auto, pcsc, usb or hid")
            }
            link = choice
        }
        try readTimeout(options.timeout, read("YKIT_TIMEOUT"))
        if path != nil, reader != nil { throw .usage("--path and --reader cannot be combined") }
    }

    private mutating func readTimeout(_ option: Double?, _ variable: String?) throws(Explanation) {
        guard let seconds = option ?? variable.map({ Double($0) ?? .nan }) else { return }
        guard seconds > 0, seconds <= 86_400 else {
            let given = option == nil ? variable.map { "YKIT_TIMEOUT is '\($0.printable)'" } : nil
            throw .usage(
                "\(given.map { $0 + ", expected" } ?? "--timeout must be") more than 0 and at most 86400 seconds")
        }
        timeout = seconds
        hasTimeout = true
    }
}

extension LinkChoice {
    fileprivate var transport: KeySelection.Transport {
        switch self {
        case .auto: .auto
        case .pcsc: .pcsc
        case .usb: .usb
        case .hid: .hid
        }
    }
}
