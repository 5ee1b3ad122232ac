// SPDX-License-Identifier: Apache-2.0

import AccountVerbs
import Glibc
import TerminalIO
import Verbs
import Words
import YKCrypto
import YKHardware

// A core dump must not contain a PIN, so none is written. Programs that are started can set the limit for themselves.
var coreLimit = rlimit()
_ = getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &coreLimit)
coreLimit.rlim_cur = 0
_ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &coreLimit)
ChildProcess.withhold(Program.mayHoldSecret)
OpenSSL.whenMissing { problem in
    if let problem {
        _ = write(2, problem, strlen(problem))
        _ = write(2, "\n", 1)
    }
    _exit(127)
}
guard Terminal.fillPlaces() else {
    Terminal().fail(.usage("standard output is closed", hint: "redirect it to /dev/null to discard the results"))
    ExitStatus.usage.end()
}
guard let words = ProgramArguments.words else {
    Terminal().fail(.usage("an argument is not valid UTF-8", hint: "rename the file, or make a link to it"))
    ExitStatus.usage.end()
}
Program.root = Ykit.self
Program.formats = ImportFormats.all
Interruption.install()
MainLoop.current.run { await Program.run(AgePluginLine.words(words)) }.end()
