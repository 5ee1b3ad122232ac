// SPDX-License-Identifier: Apache-2.0

import YKTransport
public import YKWire

/// A recorded session with a key: a header and the events in order. Its text form has one JSON object per line.
public struct Capture: Sendable, Hashable {
    /// What was recorded, and its environment.
    public var header: Header
    /// The events, in order.
    public var events: [Event]

    /// Creates a capture.
    public init(header: Header, events: [Event] = []) {
        self.header = header
        self.events = events
    }

    /// The first line of a capture. Unknown keys are kept.
    public struct Header: Sendable, Hashable {
        /// All keys as they are in the file.
        public var fields: JSONValue.Object

        /// Creates a header for a link of this kind.
        public init(link: LinkKind) {
            fields = JSONValue.Object()
            fields["capture"] = 1
            fields["link"] = .string(link.rawValue)
        }

        init(fields: JSONValue.Object) { self.fields = fields }

        /// The kind of link.
        public var link: LinkKind { LinkKind(rawValue: fields["link"]?.string ?? "") }
        /// The name of the reader.
        public var reader: String? {
            get { fields["reader"]?.string }
            set { fields["reader"] = newValue.map(JSONValue.string) }
        }
        /// The name reported by the key.
        public var device: String? {
            get { fields["device"]?.string }
            set { fields["device"] = newValue.map(JSONValue.string) }
        }
        /// The USB vendor and product numbers, in hexadecimal: `1050:0407`.
        public var usb: (vendor: UInt16, product: UInt16)? {
            get {
                let parts = fields["usb"]?.string?.split(separator: ":").map { UInt16($0, radix: 16) } ?? []
                guard parts.count == 2, let vendor = parts[0], let product = parts[1] else { return nil }
                return (vendor, product)
            }
            set {
                fields["usb"] = newValue.map { numbers in
                    .string(
                        [numbers.vendor, numbers.product]
                            .map { Hex.encode([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }.joined(separator: ":"))
                }
            }
        }
        /// The answer to reset.
        public var atr: [UInt8]? {
            get { fields["atr"]?.string.flatMap { try? Hex.decode($0) } }
            set { fields["atr"] = newValue.map { .string(Hex.encode($0)) } }
        }
        /// Seconds since 1970 at the first event.
        public var clock: Int64? {
            get { fields["clock"]?.int }
            set { fields["clock"] = newValue.map(JSONValue.int) }
        }
        /// The random bytes that the host drew, in order; zeros in place of secret ones.
        public var random: [UInt8]? {
            get { fields["random"]?.string.flatMap { try? Hex.decode($0) } }
            set { fields["random"] = newValue.map { .string(Hex.encode($0)) } }
        }
        /// The secret random bytes, in order; only in a recording that keeps secrets.
        public var secretRandom: [UInt8]? {
            get { fields["secretRandom"]?.string.flatMap { try? Hex.decode($0) } }
            set { fields["secretRandom"] = newValue.map { .string(Hex.encode($0)) } }
        }
        /// The longest command APDU that the reader accepts, in bytes; a replay needs it to send the same commands.
        public var maxCommandLength: Int? {
            get { fields["maxCommandLength"]?.int.flatMap(Int.init(exactly:)) }
            set { fields["maxCommandLength"] = newValue.map { .int(Int64($0)) } }
        }
        /// Whether secrets were kept on request.
        public var keepsSecrets: Bool {
            get { fields["secrets"]?.bool ?? false }
            set { fields["secrets"] = newValue ? true : nil }
        }
        /// A note from the person who recorded it.
        public var note: String? {
            get { fields["note"]?.string }
            set { fields["note"] = newValue.map(JSONValue.string) }
        }
    }

    /// The kind of link a capture was made on.
    public struct LinkKind: OpenSet {
        /// The word in the file.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// APDUs to and from a smart card.
        public static let card = LinkKind(rawValue: "card")
        /// HID reports.
        public static let hid = LinkKind(rawValue: "hid")
        /// No key: only requests to servers.
        public static let http = LinkKind(rawValue: "http")
    }
}
