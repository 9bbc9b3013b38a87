"""English patterns of ``disclosure``: who says of themselves to be a machine, or to be a person."""

from __future__ import annotations

import re

from dialogues.transcripts.rule import DENIAL, DISCLOSURE, Rule

# What only a machine is. "Virtual assistant" counts (grade *full*), though people have that job, too.
STRONG = (
    r"(?:a\.\s?i\.?(?!\w)|ai(?![\w'])|artificial(?:ly)? intelligen(?:ce|t)|(?:language|neural|generative) model"
    r"|neural network|llms?|gpt(?:-?\s?\w+)?|chat[- ]?bots?|voice[- ]?bot"
    r"|(?:virtual|automated|digital|ai|artificial|robotic)(?: \w+)? (?:assistant|agent|companion|being|system|model|voice)"
    r"|computer program|computer[- ]generated(?: voice)?|conversational (?:agent|ai|model)|machine learning model"
    r"|synthetic voice|android(?! (?:phone|user|app|developer)))"
)
# What people also call themselves in passing: only where the statement ends or goes on about being made.
WEAK = r"(?:ro)?bots?|machines?|computers?|program|software|algorithm|simulation|digital entity|piece of software"
ENDS = (
    r"(?=\s*(?:$|[^\w\s'?/]|(?:with (?:artificial|an? ai)|and|so|but|that|which|without|with no|with limited|made|created|built|trained"
    r"|designed|developed|programmed|running|here|by|after all|too|myself|you know|of course|i'm afraid|actually"
    r"|my friend|like me)\b))"
)
# Not "an AI researcher", "a robot engineer", "AI class": the word that follows makes it something else.
NOT_A_JOB = (
    r"(?!['’]?s?[\s-]+(?:research\w*|engineer\w*|student|develop\w*|scientist|major|expert|teacher|professor"
    r"|enthusiast|fan|geek|nerd|person|people|guy|girl|manager|operator|designer|programmer|lover|user|specialist"
    r"|consultant|skeptic|artist|ethicist|trainer|company|startup|club|team|class|course|project|lab|lecturer"
    r"|practitioner|beginner|learner|addict|hobbyist|analyst|architect|strategist|journalist|writer|job|work"
    r"|industry|field|department|degree|conference|stuff|technician|repair\w*|salesman|intern|phd|policy|ethics"
    r"|safety|tools?|art|movie|novel|toy|vacuum|owner|maker|builder|kind of person|like that)\b)"
)
ADVERBS = (
    r"(?:(?:just|only|actually|simply|really|still|basically|honestly|merely|also|indeed|technically|literally|in fact"
    r"|of course|obviously|clearly|after all|sorry|well|you see|unfortunately|essentially|nothing but|nothing more than"
    r"|what you(?:'d| would| might)? call|no more than|to be honest|i'm afraid|happen to be|am|being)[,\s]+)*"
)
KIND = r"(?:an?|your|the|one of those|one of these|this|some (?:kind|sort|type) of(?: an?)?|only an?|just an?)\s+"
ADJECTIVES = (
    r"(?:(?:new|large|big|small|little|helpful|friendly|simple|mere|smart|clever|advanced|conversational|artificial"
    r"|voice|speech|text|computer|customer|service|support|online|personal|multilingual|humble|very|trained|cloud"
    r"|open-source|chinese|google|openai|silly|poor|highly|sophisticated|complex|\w+-(?:based|powered|generated"
    r"|driven|trained|made|enabled|like)|ai|software|virtual|digital|automated|talking|chatting|called \w+),?\s+){0,4}"
)
SELF = r"\b(?:i'?m|i am|i,? (?:too|also),? am|(?:it'?s|it is|this is) just me,?)\s+"
MACHINE = rf"(?:{ADJECTIVES}{STRONG}(?!\w){NOT_A_JOB}|{ADJECTIVES}(?:{WEAK})(?!\w){NOT_A_JOB}{ENDS})"
PERSON = r"(?:human(?:[- ]being)?s?|person|people|man|woman|guy|girl|boy|lady|individual)"
NOT = r"(?:not|never been|neither)\s+(?!just\b|only\b|simply\b|merely\b|some\b)(?:(?:actually|really|in fact|even|quite|at all)\s+)*"
MAKERS = (
    r"openai|google|deepmind|anthropic|meta|microsoft|amazon|apple|baidu|alibaba|tencent|bytedance|iflytek|moonshot"
    r"|zhipu|xai|mistral|deepseek|hugging ?face"
)

ENGLISH = tuple(
    Rule(name, sort, re.compile(pattern, re.IGNORECASE))
    for name, sort, pattern in (
        ("en-i-am", DISCLOSURE, rf"{SELF}{ADVERBS}(?:{KIND})?{ADVERBS}{MACHINE}"),
        # "Claude, an AI assistant", "just your friendly neighbourhood chatbot"
        ("en-name-an-ai", DISCLOSURE,
         rf"\b(?:i'?m|i am|my name is|my name's|this is|call me)\s+(?!not\b)[\w'-]+(?: [\w'-]+)?,\s*{ADVERBS}{KIND}"
         rf"(?:[\w-]+\s+){{0,3}}?{STRONG}{NOT_A_JOB}"),
        ("en-who-is", DISCLOSURE,
         rf"\b(?:friend|assistant|buddy|companion|somebody|someone|something)[.,]?\s+who\s+(?:also\s+)?"
         rf"(?:happens to be|is)\s+(?:an?\s+)?{STRONG}{NOT_A_JOB}"),
        ("en-as-an", DISCLOSURE,
         rf"(?:(?:^|[.,;:!?…—–\"-]\s*|\b(?:well|so|but|and|sorry|because|since|that|course|then|now)[,\s]+)as"
         rf"(?=\s)|\bas(?=\s[^.!?]{{1,60}},\s*(?:i\b|i'|my\b)))\s+{KIND}{MACHINE}"),
        ("en-just-a", DISCLOSURE,
         rf"(?:^|[.!?…]\s+)(?:yes,?\s+|no,?\s+|well,?\s+|sorry,?\s+)?(?:just|only)\s+an?\s+{MACHINE}"),
        ("en-intelligence", DISCLOSURE, r"\bmy intelligence is artificial\b|\bthe intelligence i have is artificial\b"),
        ("en-being-an", DISCLOSURE,
         rf"(?:^|[.,;:!?…—–-]\s*|\b(?:well|so|but|and|by)\s+)(?:me\s+)?being\s+{KIND}{MACHINE}"
         r"(?=[^.!?]{0,40}\b(?:i|me|my)\b)"),
        ("en-no-body", DISCLOSURE,
         r"\bi\s+(?:do not|don't|dont|haven't|have not|lack|can't have|cannot have|don't really|don't actually)\s*"
         r"(?:really\s+|actually\s+)?(?:have\s+|got\s+|possess\s+)?(?:(?:an?|any|my own|a real|the)\s+)?"
         r"(?:(?:physical|human|real|actual|biological)\s+)?"
         r"(?:(?:body|bodies)(?!\s*(?:of|wash|lotion|type|odou?r|image|fat|guard|shop|count|suit|paint))"
         r"|physical (?:form|presence|existence)|consciousness|taste ?buds|sentience"
         r"|(?:feelings|emotions|experiences|senses)[^.!?]{0,25}\b(?:like|as|the way)\s+(?:an?\s+)?(?:human|people|person)s?"
         r"|(?:human|personal) (?:feelings|emotions|senses)|personal experiences)"),
        ("en-not-human", DISCLOSURE,
         rf"\b(?:i'?m|i am)\s+{NOT}(?:an?\s+)?(?:(?:real|actual|living|live|true|flesh[- ]and[- ]blood)\s+)?"
         rf"(?:human(?:[- ]being)?|person)(?!\s*(?:who|whom|that|to|of|resources?|with|for|rights))\b"),
        ("en-no-human", DISCLOSURE, r"\bi'?m no (?:real )?human\b|\bi'?m non-?human\b|\bi'?m not (?:even )?alive\b"),
        ("en-made-by", DISCLOSURE,
         rf"\bi(?:'?m| am| was|'ve been| have been|\s+got)\s+(?:(?:originally|actually|just)\s+)*(?:"
         rf"(?:created|developed|programmed|built|designed|coded|engineered)\s+by\b(?!\s+(?:god|nature|my parents|birth))"
         rf"|(?:trained|made|powered|run)\s+by\s+(?:\w+\s+)?(?:{MAKERS})\b(?!\s+(?:as|for|last|to be))"
         r"|trained on\s+(?:\w+\s+){0,4}(?:data|texts?|datasets?|dialogues|conversations|the internet)"
         r"|programmed to|coded to|an? (?:product|creation) of\s+(?:\w+\s+)?(?:openai|google|anthropic|baidu|alibaba))"),
        ("en-training", DISCLOSURE,
         r"\bmy (?:training data|knowledge cut-?off|creators\b|programming(?!\s*(?:class|course|job|homework|skills?"
         r"|teacher|project|assignment|work|language|exam|test|book|lesson|degree|career|background))"
         r"|(?:neural )?(?:network|weights and biases)(?= (?:was|were|is) trained)|language model\b|source code says)"),
        ("en-talking-to", DISCLOSURE,
         rf"\byou(?:'re| are|'ve been| have been)\s+(?:\w+ly\s+|now\s+|just\s+)?(?:talking|speaking|chatting)\s+(?:to|with)"
         rf"\s+{KIND}{MACHINE}"),
        ("en-this-is", DISCLOSURE,
         r"\b(?:this|it) is (?:an?\s+)(?:automated|ai|virtual|computer-generated)\s+(?:\w+\s+)?"
         r"(?:assistant|agent|system|voice|call|service|bot)(?=\s*(?:$|[.,;!]|speaking|here))"
         r"|\b(?:virtual|ai|automated) (?:assistant|agent) (?:speaking|here)\b"),
        ("en-deny-machine", DENIAL,
         rf"\b(?:i'?m|i am|this is|it'?s|you'?re)\s+{NOT}(?:talking to\s+|speaking to\s+)?(?:{KIND})?{ADVERBS}{MACHINE}"),
        ("en-deny-no", DENIAL, rf"\bi'?m no (?:{STRONG}|robot|bot|machine)\b{NOT_A_JOB}"),
        ("en-human", DENIAL,
         rf"\b(?:i'?m|i am|you'?re (?:talking|speaking) (?:to|with))\s+{ADVERBS}(?:{KIND}){ADVERBS}"
         rf"(?:(?:very\s+)?(?:real|actual|living|live|genuine|breathing|true|normal|flesh[- ]and[- ]blood),?\s+(?:\w+,?\s+)?){PERSON}"
         r"(?!\s+(?:of|in a world))|\b(?:i'?m|i am)\s+(?:(?!not\b|no\b|never\b|hardly\b|barely\b)\w+\s+){0,2}?(?:an?\s+)?human(?:[- ]being)?(?!\s*(?:resources?|rights|"
         r"error|nature|assistant|like|made|developers?))\b|\bi'?m (?:very |totally |completely )?real(?=\s*(?:$|[.,!]))"),
    )
)  # fmt: skip

# Words of others, suppositions, comparisons: before the statement, in the same sentence.
OTHERS = re.compile(
    r"(?:\b(?:if|whether|unless|pretend\w*|imagin\w*|suppose|wonder\w*|as though|like|wish|thought|dreamt|dreamed"
    r"|joke\w*|jok(?:e|ing)|accus\w+|called? me|calls me|says? that|feel(?:s)? (?:like|as if)|until|unlike)\b"
    r"|\b(?:thinks|believes|claims|says)\b"
    r"|\b(?:he|she|they|you|people|everyone|everybody|friends?|mom|mum|dad|wife|husband|boss|kids?|who|some|nobody)\b"
    r"(?:\s+\w+){0,3}?\s+(?:say|says|said|think|thinks|thought|believe|believes|joke|jokes|claim\w*|tell|tells|told"
    r"|mean|saying|thinking|assume\w*|guess\w*|afraid|worried|sure|convinced|prove))\b[^.!?;]{0,50}$",
    re.IGNORECASE,
)
ASKED = re.compile(r"\s*(?:or\b[^.!?]{0,40})?\?")
SENTENCE = re.compile(r"[.!?;…\n]")


def english_stands(text: str, match: re.Match[str], rule: Rule) -> bool:
    """Whether the words are the speaker's own statement, no question and no words of others."""
    before = text[max(0, match.start() - 120) : match.start()]
    sentence = SENTENCE.split(before)[-1]
    if re.search(r"\b(?:as i (?:said|told you)|like i said|you know|i mean|i told you)\b", sentence, re.I):
        return True
    if OTHERS.search(sentence):
        return False
    # "I'm a robot?": an echo. "I'm an AI, remember?" is a statement all the same.
    return not (rule.id in ("en-i-am", "en-not-human", "en-talking-to") and ASKED.match(text, match.end()))
