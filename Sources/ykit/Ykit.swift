// SPDX-License-Identifier: Apache-2.0

import AccountVerbs
import ApprovalVerbs
import Arguments
import CardVerbs
import DeviceVerbs
import FIDOVerbs
import HostVerbs
import Verbs

/// The root of the command tree.
struct Ykit: ParsableCommand {
    static let about = About(
        program: "ykit", "A toolkit for hardware security keys.",
        discussion: """
            Global options can be given anywhere on the command line. Without a key, try \
            'ykit --virtual oath list' or 'ykit --replay FILE --replay-mode lookup oath list'.
            """,
        version: Program.version,
        topics: DeviceCommands.first + FIDOCommands.topics + HostCommands.topics + AccountCommands.topics
            + CardCommands.topics
            + ApprovalCommands.topics + DeviceCommands.others)
}
