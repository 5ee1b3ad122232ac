// SPDX-License-Identifier: Apache-2.0

import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.prefix(while: { $0 != "--" }).contains("--version") {
    Terminal.write(Array("ykit \(Program.version)\n".utf8), to: 1)
    exit(0)
}
Interruption.install()
exit(MainLoop().run { await Program.run(arguments) }.rawValue)
