#include "lint/pockets.h"
namespace carom::internal {
bool FindPockets(const LintMap&, const std::vector<Gap>&, const LintOptions&, FindingSink&, WorkMeter&) { return true; }
}
