"""What tells of English sentences that they hold for long, and what that they do not.

A sentence is of the kind whose cues add up to the most, if that is 1 at least: one strong cue, or
two that would be too little alone. What tells of this moment, asks, supposes, quotes or tells of a
bug is of no kind. Chosen on turns that were written without a look at these rules, and measured on
others of them: docs/observer-measured.md.
"""

# ruff: noqa: E501 - rows of tables

import re
from typing import Final

from service.late_pattern import LatePattern
from service.observe.lasting import Cues, cues_of

# Before what counts: "ok so", "btw", "yeah but"; a name; a word of code; what stands here and now.
_PARTS: Final = {
    "here": r"\b(?:this (?:function|file|snippet|line|one|bit|block|test|time|message|answer|paragraph|part|level|page|section|call|loop|class|question|draft|email|branch|task|run|step|word)|line \d+|(?:above|below) (?:this|that))\b",
    "lead": r"^(?:(?:ok(?:ay)?|k|so|and|but|also|btw|fyi|note|yeah|yes|no|oh|ah|right|alright|then|please|pls|reminders?|in short|fine|sold|done|ugh|hm+)\b[,.:]? ?){0,3}",
    "days": r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?",
    "name": r"(?-i:[A-Z][a-z]+)",
    "tool": r"[\w`][\w`./+-]*",
}
# What people tell others to do or not: "Always here to help" and "Never saw it" say no rule.
_DO: Final = (
    r"(?:accept|add|allow|answer|ask|assume|avoid|block|build|bump|cache|call|change|check|cite"
    r"|commit|confirm|connect|copy|create|define|delete|deploy|describe|disable|document|download"
    r"|drop|edit|enable|ensure|escape|explain|expose|fetch|follow|force|format|generate|handle"
    r"|hardcode|ignore|import|include|install|keep|leave|lint|list|load|log|lower|make|mark|mention"
    r"|merge|mock|modify|move|name|notify|open|pass|pin|post|prefer|print|propose|publish|push|put"
    r"|query|quote|raise|read|rebase|refactor|reject|remove|rename|reorder|reply|report|require"
    r"|respond|retry|return|reuse|review|rewrite|run|save|send|set|share|show|sign|skip|sort|speak"
    r"|squash|start|stop|store|suggest|summari[sz]e|switch|tell|test|throw|touch|translate|truncate"
    r"|trust|turn|update|upgrade|upload|use|validate|verify|wrap|write)\b"
)
_SAID: Final = {
    "decision": LatePattern(
        r"^(?:ok(?:ay)?,? |so,? |then,? |and )?"
        r"(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|settled) (?:to|on|that|against|for|not)\b"
        r"|(?:final )?decision\s?:|let'?s (?:go with|stick with|switch to|settle on|use)\b"
        r"(?!.{0,40}\b(?:example|lunch|for (?:this|now)|(?:smoke )?test)\b)"
        r"|(?:we|i)(?:'ll| will| are going to|'re going to) (?:use|go with|stick with)\b"
        r"(?!.{0,30}\bexample))",
        re.IGNORECASE,
    ),
    "preference": LatePattern(
        rf"^(?:(?:please|and|but|also|so|no|ok(?:ay)?),? )?(?:(?:always|never) {_DO}"
        rf"|(?:don'?t|do not) ever {_DO}|(?:stop|quit) (?:using|adding|writing|creating|doing)\b"
        rf"|make sure (?:to|you|that you) (?:always|never) {_DO}"
        rf"|from now on\b|going forward,|in (?:the )?future,? (?:please\b|always\b|never\b|{_DO}))"
        rf"|\b(?:you|we|they|it) (?:should|must|shall) (?:always|never) {_DO}"
        r"|^(?:i|we) (?:(?:strongly |really )?prefer(?! (?:this|that|the [a-z]{4,6}(?:d|st|er))\b)"
        r"|(?:always|never) want you to|(?:like|hate|love) it when you)\b"
        r"|^(?:i'd|i would) (?:rather you|prefer)\b",
        re.IGNORECASE,
    ),
    "fact": LatePattern(
        r"^(?:please |and )?(?:remember(?: that\b(?!,)|:"
        r"|,? (?:i|we) (?:prefer|like|hate|want|use|always|never|don'?t|do not)\b"
        r"|(?: that)?,? (?:my|our) .{1,80} (?:is|are)\b)|keep in mind(?: that|:)"
        r"|(?:add|save|write) (?:(?:this|that|it) )?to (?:your |my )?memory:"
        r"|(?:don'?t|do not) forget that|for the record[,:]|fyi[,:]? )",
        re.IGNORECASE,
    ),
}

ENGLISH: Final[Cues] = cues_of(
    "English",
    "decision",
    _SAID,
    _PARTS,
    without=r"""
^(?!no\b|don'?t|never|always|stop|please|pls|use\b|keep\b).{1,400}!$
^(?:your|those|these|having|hoping|trying|seeing|getting|glad|thanks?|wow|hey|hi|yeah,|sounds|definitely|congrats|good|great|awesome|nice|aw+|so important)\b
\bmust (?:be|have)\b(?! \w+ed\b)|\bmeans? (?:so much|a lot|the world|everything)\b|\bwill be (?:so|great|fun|awesome|amazing|good|nice|perfect|worth)\b
\b(?:today|tonight|right now|just now|for now|for the (?:moment|time being|next)|temporar|a (?:sec|second|minute|moment|bit) ?(?:ago|so)?|minutes?,|ago|yesterday|tomorrow|earlier|last (?:year|week|month|night|job|time)|back in|used to|until (?:the (?!end of)|it|we|i)\b|for (?:this|that|todays?|one)\b|(?:in|within) (?:\d+|ten|twenty|a few) minutes|for lunch|with lunch|again\b|right away|at the moment|since (?:this|ten|the last) |this (?:morning|afternoon|evening|once)|just this once|(?:by|until|till) \d{1,2}[.,!]?$|i'?ll be (?:there|back|late)|be quick|anymore|a moment|in a meeting|yet[.,!]?$|not yet|carry on|at \d+ ?%)
{here}
\bthe (?:first|second|third|last|other|latter|former) (?:one|version|draft|option|screenshot|sentence|title|image|approach)\b
\b(?:maybe|perhaps|probably|i (?:think|guess|wonder|might)|not sure|dunno|no idea|what if|(?:if|suppose|imagine) (?:we|i|he|she|they|you) (?:were|had|ever|did|could|would|switched)|pretend|act as|kinda|tempted|(?:thinking|dreaming) (?:of|about)|considering|should we|almost|nobody decided|wonder|curious|not that i|i was going to|scratch|forget it|nah|never mind|nevermind|ignore (?:my|what)|lol|haha|tbd|undecided)\b
\b(?:say|said|says|saying|insists?|claims?|claimed|thinks?|told me|reads?|wrote)\b.{0,40}[\"“]
\b(?:he|she|they|somebody|someone|reddit|people|everyone on|(?:my|a) (?:boss|colleague|friend|coworker|neighbou?r|professor)) (?:said|says|say|insists?|claims?|thinks?|told|used)\b|\b(?:{name}|(?:blog|stackoverflow|so|the) \w+|readme|ticket|article|tutorial|docs?) (?:says|said|claims|thinks|insists|tells)\b
[\"“][^\"”]{12,}[\"”]
^(?:who|what|where|why|how|which|is|are|was|were|do|does|did|can|could|would|will|has|have|should|shall|am) \S
^(?:and |but |so )?(?:it|that|this|he|they)(?:'?s| is| was| went| has| will| did| does|n'?t)?\b(?! (?:settled|decided|agreed|final|official|what|repo|repository|project|codebase|company|team)\b)
\b(?:(?:error|exception)\b|traceback|failed|crash(?:ed|es)|broke|hangs|hung|is (?:slow|down|broken|red|upside|failing|stuck|empty|missing|wrong|blank|blurry|full|taken|expired|late|behind|out of date|still open|off by|too (?:close|long|short|loud|big|small|dark|bright|far)|greye?d?|stretched|frozen|asleep|shadowed|reversed|skipped|gone|flat)\b|are (?:failing|missing|still (?:in|open|red)|left|broken|asleep|merge conflicts)|went through|got merged|i never said|\btypos?\b|has (?:a |the )?(?:wrong|missing|blank|stale)|race condition|\b(?:nan|null|undefined)\b|overlaps?\b|stutters?\b|\btwice\b(?! (?:a|per) )|keeps \w+ing|instead of (?:html|json))
^(?:please )?(?:fix|revert|rename|move|translate|book|remind|delete|bump|merge|undo|rerun|run it|show me the|send|plot|convert|summari[sz]e|take the|make (?:the|this|that)|add (?:a|an|the|one|two|another) |put (?:a|the) |give me (?:a|the)\b(?! diff))\b(?!.{0,60}\b(?:always|every|never|before|instead of)\b)
""",
    preference=r"""
1.0 {lead}(?:stop|quit) (?!the\b|that\b|this\b|it\b)\w+ing\b
0.7 \b(?:in general|across the board|everywhere|at all(?=[,.]|$)|by default|as a rule|from here on|from now on|going forward|for us|around here|every ?time|each time|any ?time|whenever|always|never|ever|unless i (?:ask|say)|in this (?:repo|project|codebase|house|team)|in the (?:firmware|repo|codebase|backend|frontend)|without asking|(?:ask|tell) me (?:first|before)|(?:is|are) (?:banned|forbidden))\b
1.0 {lead}(?:if|when(?:ever)?|any ?time|every time|each time|before|after|once)\b.{3,80}?(?:, (?:then |please |just |always )?(?:do|don'?t|run|give|tell|ask|pick|show|update|use|write|add|check|leave|stop|keep|make|put|bump|explain|link|mention|say|send|commit|open|go|never)| (?:then |please |just |always )?(?:don'?t|run|give me|tell me|ask me|pick|show me|use|write|bump|explain|mention|send me|commit|update))\b
0.4 {lead}(?:in general,? )?(?:don'?t|do not|give|keep|use|remember|skip|put|write|ask|show|run|check)\b
0.8 \S,? (?:and )?not (?:in |on |the |a |an |with |from |via )?{tool}(?: [\w-]+){0,3}[.!]?$
0.8 ^{tool},? (?:not|over|never) {tool}[.!]?$
1.0 {lead}no (?!idea|prob|thanks|worries|wait|need|rush|way|one|clue|luck|matter|i\b|it\b|output|errors?\b|results?|response|changes?\b|difference|effect|success|signal|internet|tests?\b|such|answer|doubt|you\b|that|this|more (?!than)|longer)[\w`-]+(?: \w+){0,6}(?:[.,;!]|$)
1.0 ^(?:before|when|if|after|once|whenever|each time|every time) you .{3,60}, \w+
0.7 \w (?:only|instead)[.!]?$|\bonly,|, nothing else|\bno exceptions\b|\bever[.!]?$
1.0 \brather than\b|\b\w+ over \w+ (?:in (?:this|our)|everywhere|for)|\bthe rule (?:is|here)|\bstandard (?:here )?is\b|\bwe follow\b|\b(?:you are|you're) supposed to\b|\bnext time\b|\bi expect you to\b|\bit (?:bothers|annoys) me\b
0.9 {lead}(?:kindly|please|pls) (?:always |never |do not |don'?t )?\w+ (?!the\b|this|that|it\b|a\b|me (?:the|a)\b)\w+
1.0 {lead}for (?:all |every |any )?[a-z]+s?(?: [a-z]+){0,3},? (?:please |always )?(?:use|leave|keep|write|put|prefer|do|don'?t|skip|make)\b
1.0 {lead}(?:use|keep|leave|prefer|skip|ask|cite|avoid|wrap|sign|name|mention|spell|prefix) (?!the\b|this|that|it\b|an?\b|these|those)[\w`'/-]+.{0,60}(?:,|\b(?:over|not)\b|\b(?:with me|before|because|when|anything|to anyone|out of anything)\b)|^ask before\b
1.0 \bnobody \w+s .{0,40}without\b|\b(?:everything|anything|nothing|whoever|whatever|everyone) (?:that )?\w+.{0,60}\b(?:gets?|goes|adds|must|has to|needs)\b
1.0 {lead}(?:avoid|don'?t|do not|refrain from) (?!forget\b|worry|know|think|have\b|see|get\b|want|need|touch\b|understand|remember|believe|mind|care|ask why|delete\b|give up|quit\b|be (?:afraid|scared|shy)|hesitate|miss\b|let\b)\w+(?! (?:the|this|that|it|these|those|anything)\b)(?: \w+)
0.8 {lead}(?:keep|use|prefer|write|name|format|indent|quote|sort|round) (?!the\b|this|that|it\b|my\b|a\b)[\w`'-]+(?: [\w`'-]+){0,2}s?\b.{0,60}\b(?:for all|for every|short|small|under|below|at most|max|consistent|minimal|simple|everywhere|free of|style|never|only|always|in (?:this|our) )
1.0 ^(?!(?:this|things)\b)[a-z`-]+(?: [a-z`-]+)?s(?: [\w'-]+){1,5} (?:should|must|shall|have to|are to)\b(?!.{0,40}\b(?:here|this)\b)
1.0 ^(?!(?:you|i|we|it|they|he|she|this|that|who|there)\b)(?:(?:all|every|any|each)(?: (?:the|our))? [a-z`-]+(?:[ -][a-z]+){0,2}|(?:(?:the|our) )?[a-z`-]+(?:[ -][a-z]+){0,2}(?<!s)s) (?:should|must|shall|ought to|needs? (?:to|an?)|ha(?:ve|s) to|are to be|is to be|belongs?|go(?:es)? (?:next|in|under|first|at|on|to|below|above)|gets?|stays?|start(?:s)? with|come (?:first|last)|follows?|are (?:right|left)-aligned|in sentence case)\b(?!.{0,40}\b(?:here|this slide|this call)\b)
0.8 ^[a-z`-]+(?:[ -][a-z]+){0,3} (?:everywhere|in (?:this|the|our) (?:codebase|repo|project|documentation|docs))\b
0.8 \b(?:in|with|as|from) (?:german|english|french|polish|spanish|korean|metric|celsius|sentence case|bullet points|24h)\b
1.0 \b(?:my preference|i(?:'d| would) (?:appreciate|prefer|rather)|i(?:'d| would) like (?:you|it)|i (?:really )?(?:prefer|hate|dislike|can'?t stand|like my|want my|don'?t (?:like|want|care for))(?! it when| to\b)|we (?:like|prefer|hate|don'?t (?:want|use|do|like|allow)|(?:never|always) (?!had|saw|got|knew|was|were|did|\w+ed\b))|i'?m (?:a|an|more of an?) \w+ (?:person|guy|user|fan)) (?!the (?:first|second|third|last|other)|this|that|option|number|it\b|number)
1.0 \b(?:call|text|address|email|ping|message) me (?!back|when|if|a\b|the\b)(?:{name}|on|in|by|at)\b
1.0 \b(?:speak|talk|reply|answer|respond|write)(?: to me)? (?:like|in|as)\b.{0,40}(?:from|cause|because|please|only|always|unless|german|english|french|spanish|korean|metric)
0.8 \b(?:give|show|tell|ask) me .{2,40} before you\b|\bbefore (?:telling|asking|pushing|committing|coding|you (?:start|begin|push|commit|change|delete|run|touch))\b
1.0 ^less \w+.{0,20}more \w+|\b(?:i get nervous|bugs me|annoys me|drives me)\b
0.6 \b(?:max|at most|or less|tops)[.!]?$|\bset your \w+\b|\bwhy, not\b|\bplain\b.{0,20}\bdoes the job
0.4 ^(?:please|pls|kindly)\b|\bplease\b
""",
    decision=r"""
1.0 {lead}.{0,60}?\b(?:we|i)(?:'?re|'?m| are| am) (?:now )?(?:not )?(?:dropping|ditching|killing|scrapping|moving (?:to|off|away|everything|all|from)|going (?:with|for|back to|to (?:use|go (?:with|for|back)|build on|drop|ship|stick))|switching|building on|keeping|sticking|replacing|removing|adopting|migrating|standardi[sz]ing|freezing|retiring|sunsetting|doing away|settling)\b
1.0 {lead}(?:we|i)(?:'?ve| have)? (?:finally )?(?:picked|chose|chosen|went with|ended up|landed on|settled|decided|agreed|voted|opted|committed to|ruled out|signed off)\b
1.0 \b(?:settled|conclusion|verdict|we have a winner|final answer|final call|meeting result|outcome|team voted|everybody signed|closing the discussion|discussion (?:is )?closed|decision(?: is| made|:)|approved by|signed off|that'?s (?:final|decided|the plan)|is (?:final|decided|agreed))\b
1.0 \b(?:is|are|was|were) (?:cancelled|canceled|scrapped|dropped|killed|out of scope|off the table|gone from|deprecated from|postponed (?:to|until))\b|\b(?:out of|gone from|no longer in) scope\b
1.0 {lead}(?:we |i )?(?:won'?t(?! (?:give up|quit|let|be easy))|will not|not going to|are not going to|aren'?t going to|not doing|no longer|(?:we'?re|we are) not (?:doing|going to|supporting|migrating)) (?:use|using|support|do|need|ship|migrate|be |have|build|move|go|\w+ing|\w+)
1.0 \b(?:it was|it is|it's|as) (?:agreed|decided|settled)\b|\bdecided\b[.!]?$|\b(?:i|we)(?:'ve)? decided?\b|\bthat?s the decision\b|\bhas approved\b|\bboard said\b|\b(?:was|were) (?:considered and rejected|rejected|chosen|picked|voted)\b
1.0 \b[\w.+-]+ (?:it is|wins|stays|is the (?:way|one|plan|winner))(?: we go)?\b|\bis the (?:way we go|one we take)\b|\b(?:is|are) (?:cut|out|off)(?: from|[,.;]|$)|\bnot in scope\b|\bfinal (?:name|choice|version|date) is\b
1.0 ^(?!if\b)(?:[\w' -]{2,60}) (?:will|shall)(?: not| only)? (?:be|stay|live|use|go|run|become|come|follow|get|remain|have|support)\b|\b(?:won'?t|will not) be\b|^we(?:'ll| will| shall) (?:use|go with|go for|keep (?!\w+ing)|drop|ship|support|locali[sz]e|sunset|migrate|move|switch|replace|release|launch|write|build on|host|deploy|store|stay|stick|postpone|skip|hire|rent|charge|retire|freeze|adopt|only|not)\b|^instead of .{3,60},? we\b
1.0 ^(?:the )?[\w' -]{2,40} (?:goes through|moves? (?:to|into)|is going to (?:be|use)?|gets dropped|opens to|has been moved|goes? (?:up|down) by|is being (?:moved|dropped|replaced))\b|^we(?:'re| are) (?:staying|keeping|sticking)\b
1.0 ^we (?:keep|scrapped|dropped|killed|retired|rejected|chose|picked|moved|signed|stay|refactor|write)\b|^i (?:signed|ordered|booked|chose)\b
0.8 \b(?:the|our|all|every) [\w -]{2,40} (?:will|shall) (?:be|stay|live|use|go|run|become|come)\b|\bgets? (?:saved|stored|written|versioned|deployed|sent|kept|split|built|released)\b
1.0 {lead}let'?s (?:commit to|go with|stick (?:with|to)|drop|keep (?!\w+ing)|use|switch to|standardi[sz]e|settle|make it|build on|move to|go for|ditch)\b(?!.{0,40}\b(?:first|whatever|quick|smoke|example|test)\b)
1.0 \bis what we'?re (?:building|using|going|doing|shipping)|\bthat'?s what we (?:registered|agreed|picked|chose)|\bso that'?s how\b|\bit'?s (?:going to be|gonna be)\b
1.0 {lead}(?:settling on|going with|sticking (?:with|to)|dropping|ditching|scrapping|option \w+ (?:then|it is)|final:|\w+ it is[.!]?$)
0.9 \b(?:feature freeze|code freeze|release|launch|deadline|cut-?off|go-?live|freeze) is\b|\bretention\b.{0,20}\d|\breleases? (?:on|every|happen)
0.6 \bwe (?:go|rewrite|throw out|drop|move|ship|keep|skip|replace|postpone|start|build)\b|\b(?:replaces?|instead of|in favou?r of|over)\b.{2,40}(?:because|cause|since|$)
0.5 \b(?:because|since|cause|was too|were too|was overkill|isn'?t worth|arent worth|aren'?t worth|nobody uses)\b|^(?:talked|spoke|met|call(?:ed)?|client|team|boss)\b|\b(?:then|instead)[.!]?$|\blets do it\b|\bships[.!]?$|\b(?:everywhere|for all)\b|^(?:option|plan) \w+|\bwhole team'?s\b|\bgoing forward\b
""",
    fact=r"""
1.0 {lead}(?:my|our) [\w' -]{1,50} (?:is|are|has|have|lives?|runs?|uses?|works?|gets?|sits?|speaks?|starts?|ends?|owns?|needs?|can'?t|cannot|only|never|always|also|still|don'?t|doesn'?t|goes)\b(?! (?:wait|picture|imagine|believe)\b)(?! (?:wrong|right|fine|good|bad|done|ok|failing|broken)\b)
1.0 {lead}i(?:'?m| am) (?:a|an|the only|new to|allergic|based|from|left|colou?r|in charge|responsible|on call|vegetarian|vegan|dyslexic|deaf|blind|retired|married|not at my)\b|^i (?:work|live|teach|study|own|maintain|run|manage|speak|commute|only have|use an?|come from|have (?:an?|two|three|no|write|admin|\d)|don'?t (?:know (?:any|much)|speak|eat|drive|have)|was (?:diagnosed|born|trained))\b|\bwhat i do is\b
1.0 ^(?:the |our |my |all |half of |some of |each |every |there (?:are|is) |users|customers|backups|documentation|deploys?|invoices|[\w' -]{2,30} )[\w' -]{0,50}\b(?:(?:is|are|was|were) (?:(?:originally )?(?:written|managed|generated|issued|funded|compiled|built|signed|owned|used|hosted|maintained|installed|bought|donated|shared|licensed|located|coordinated|paid|done) (?:by|in|at|until|with|on|from|upside|through|via)|a (?:fork|mirror|copy)|our (?:own|internal|biggest|only)|not allowed|in cents|named|called|with [A-Z])|comes? from|makes? up|goes? back to|dates? from|belongs? to|runs? on|land(?:s)? (?:on|in)|happens? (?:from|in|via|on)|stems? from|consists? of|works? in (?:two|three|shifts)|share one|log in with)\b
0.9 \b(?:has|have|holds|contains|takes|covers|serves|needs|report) (?:about |around |roughly |over |only |its own )?(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve|a dozen|hundreds|thousands|its own)\b|\babout \d+ (?:hours|million|people)\b|\bminimum\b.{0,30}\bis\b|\b(?:1[0-9]{3}|20[0-9]{2})\b|\bcompany policy\b|\b\d+x\d+\b|\beuros?\b|\bhourly\b
1.0 ^(?:one|two|three|some|many|most|half|several|all) of (?:our|my|the) (?:\w+ )?(?:customers|clients|users|people|team|sites|servers|devices)\b
1.0 ^(?:nobody|no one|everyone|everybody) (?:here|in|on|at|from)\b|^we (?:don'?t|do not|never|follow|are not allowed|have got|'ve got)\b|^we(?:'ve| have) (?:been on|got|had)\b|^this (?:repo(?:sitory)?|project|codebase|company|team) is\b|\b(?:second|first|lead|main) (?:author|contact|developer|maintainer) is\b|\bthe head of\b
0.7 \b(?:beginning|starting|ending) with \S+ (?:are|is|mean)\b|\bis a \w+ \d|\bis an? [a-z]+ [a-z]*\d\w*|\b\d{1,3}(?:\.\d{1,3}){3}\b
1.0 {lead}we(?:'?re| are) (?:\d+|two|three|four|five|six|seven|a (?:\w+ )?(?:team|company|startup|agency|lab)|based|on (?:python|node|java|postgres|version))|^we (?:have|run|host|deploy|support|are on|still (?:use|run|support))\b
1.0 {name}(?: and {name})? (?:owns?|maintains?|coordinates?|manages?|reviews?|handles?|does|is (?:our|the|my|in charge|responsible)|leads?|runs?|approves?|knows?|wrote)\b|\b(?:belongs? to|owned by|maintained by|in charge of|responsible for|ask {name})\b
1.0 \b(?:is|are) (?:called|named|short for)\b|\bstands for\b|\bmeans (?!i\b|we\b|you\b|that i)\w|\bis our (?:name|word) for\b
1.0 \b(?:lives?|sits?|stored|kept|hosted|runs?) (?:in|at|on|under|behind) \S|\b(?:is|are) (?:at|in|under|on|behind) (?:`|https?:|the vpn|{name}|/|~|\d?[a-z]*password|vault|grafana|s3|jira|confluence|notion)
0.6 https?://\S|\b[\w.+-]{1,60}@[\w-]{1,60}\.\w|\bvpn\b|\bport \d
0.8 \b(?:every|each) (?:day|night|week|month|morning|evening|{days}|quarter|year)\b|\b(?:nightly|weekly|daily|monthly)\b|\b{days}(?: nights?| mornings?)?\b|\b\d{1,2}:\d\d\b|\bon weekends\b|\bat night\b|\butc\b
0.6 \b(?:can'?t|cannot|only|no internet|at most|at least|limited to|read[- ]only|\d+(?:\.\d+)? ?(?:kb|mb|gb|tb|v\b|hz|khz|mhz|seconds|people|requests|rows|degrees|ms)|v\d+|part time|air-?gapped|offline|by hand|by volunteers)\b
0.5 ^(?:yeah |btw |fyi,? |note:? |so |well |actually )?(?:the|our|my|there'?s(?: no)?|there (?:is|are)|in our|two of|one of|half of|all of)\s
0.6 \b(?:known (?:hardware )?(?:issue|bug)|undocumented|legacy|historical(?:ly)?|by (?:contract|law)|because of the vendor|ask (?:me how i know|[A-Z]\w+)|hardware issue|don'?t ask|since \d{4}|net of|gross)\b
0.4 \b(?:is|are|has|have|ships?|fires?|kicks off|gets|drifts|uses|goes to|open|fries|takes?|comes?|needs?|expects?|returns?)\b
""",
)
