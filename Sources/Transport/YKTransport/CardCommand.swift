// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A command of a smart-card application: its encoding and the meaning of its reply.
public protocol CardCommand {
    /// The decoded reply.
    associatedtype Response

    /// The name in the application's specification.
    static var name: String { get }
    /// Whether it changes nothing on the card even if it fails, so that it can be sent again when its exchange breaks off.
    static var isRepeatable: Bool { get }
    /// The encoded command.
    var apdu: APDU { get }
    /// Decodes the data of a reply with status 9000.
    func decode(_ reader: inout ByteReader) throws(WireError) -> Response
}

extension CardCommand {
    /// False: the command is sent once.
    public static var isRepeatable: Bool { false }
}

extension CardCommand where Response == Void {
    /// Expects no data; data that some firmware sends anyway is ignored.
    public func decode(_ reader: inout ByteReader) {}
}
