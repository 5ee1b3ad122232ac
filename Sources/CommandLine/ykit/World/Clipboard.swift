// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware

/// The clipboard of the desktop: Wayland through wl-copy, X11 through xclip.
enum Clipboard {
    private struct Tool {
        var write: (String, [String])
        var read: (String, [String])
        var clear: (String, [String], [UInt8])
    }

    /// Copies a text to the clipboard and clears it after a time, unless the clipboard holds something else by then.
    static func put(_ text: String, for seconds: Int64) throws(Explanation) {
        let tool = try tool()
        let result = try Spawn.run(tool.write.0, tool.write.1, input: Array(text.utf8))
        guard result.status == 0 else {
            throw Explanation(
                "clipboard", .failed, "\(tool.write.0) could not reach the clipboard",
                hint: "run this in the desktop session")
        }
        try Spawn.detach(
            "/proc/self/exe", ["clear-clipboard", "--after", String(seconds)], input: Array(text.utf8))
    }

    /// Clears the clipboard if it still holds a text.
    static func clear(_ text: [UInt8]) throws(Explanation) {
        let tool = try tool()
        let now = try Spawn.run(tool.read.0, tool.read.1)
        guard now.status == 0, now.output == text else { return }
        _ = try Spawn.run(tool.clear.0, tool.clear.1, input: tool.clear.2)
    }

    private static func tool() throws(Explanation) -> Tool {
        if Variables["WAYLAND_DISPLAY"] != nil, let copy = Spawn.find("wl-copy"), let paste = Spawn.find("wl-paste") {
            return Tool(write: (copy, []), read: (paste, ["--no-newline"]), clear: (copy, ["--clear"], []))
        }
        if Variables["DISPLAY"] != nil, let xclip = Spawn.find("xclip") {
            let selection = ["-selection", "clipboard"]
            return Tool(
                write: (xclip, selection), read: (xclip, selection + ["-o"]), clear: (xclip, selection, []))
        }
        throw Explanation(
            "no-clipboard", .failed, "no clipboard: neither wl-copy in a Wayland session nor xclip in an X session",
            hint: "sudo apt install wl-clipboard xclip")
    }
}
