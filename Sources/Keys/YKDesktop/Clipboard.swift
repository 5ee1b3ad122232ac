// SPDX-License-Identifier: Apache-2.0

package import YKHardware
public import YKTransport

/// The clipboard of the desktop: Wayland through wl-copy, X11 through xclip.
public struct Clipboard: Sendable {
    private let programs: ProgramRunner
    /// The program, and its arguments to write.
    private let copy: (program: String, arguments: [String])
    private let paste: (program: String, arguments: [String])
    /// The arguments of that program to clear the clipboard.
    private let clearing: [String]

    /// Finds the clipboard of a session.
    ///
    /// - Throws: `noClipboard`.
    public init(_ session: DesktopSession, cancellation: Cancellation = Cancellation()) throws(DesktopError) {
        try self.init(session, .system(cancellation))
    }

    package init(_ session: DesktopSession, _ programs: ProgramRunner) throws(DesktopError) {
        self.programs = programs
        if session.hasWayland, let copy = programs.find("wl-copy"), let paste = programs.find("wl-paste") {
            (self.copy, self.paste, clearing) = ((copy, []), (paste, ["--no-newline"]), ["--clear"])
        } else if session.hasX11, let xclip = programs.find("xclip") {
            let selection = ["-selection", "clipboard"]
            (copy, paste, clearing) = ((xclip, selection), (xclip, selection + ["-o"]), selection)
        } else {
            throw .noClipboard
        }
    }

    /// Copies a text to the clipboard.
    ///
    /// - Throws: `clipboardUnreachable`, or `program` if the program did not end.
    public func put(_ text: String) throws(DesktopError) {
        guard try run(copy.program, copy.arguments, Array(text.utf8)).status == 0 else {
            throw .clipboardUnreachable(program: copy.program)
        }
    }

    /// Clears the clipboard if it still holds a text.
    ///
    /// - Throws: `program` if the program did not end.
    public func clear(ifHolding text: [UInt8]) throws(DesktopError) {
        let now = try run(paste.program, paste.arguments)
        guard now.status == 0, now.output == text else { return }
        _ = try run(copy.program, clearing)
    }

    private func run(
        _ program: String, _ arguments: [String], _ input: [UInt8] = []
    ) throws(DesktopError) -> ChildProcess.Ending {
        do { return try programs.run(program, arguments, input, [:]) } catch { throw .program(error) }
    }
}
