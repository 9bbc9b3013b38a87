"""Chinese patterns of ``disclosure``: 我是人工智能助手 and what only looks like it."""

from __future__ import annotations

import re

from dialogues.transcripts.rule import DENIAL, DISCLOSURE, Rule

AI = r"(?:人工智能|人工智慧|(?<![A-Za-z])[AaＡ][IiＩ](?![A-Za-z]))"
# 助手, 客服, 小编 alone are people, too.
MACHINE = (
    rf"(?:{AI}(?:语言模型|大模型|模型|助手|助理|机器人|程序|虚拟人|客服|系统|伙伴|语音助手|聊天机器人|智能体|产品)?"
    r"|(?:聊天|对话|智能|语音)?机器人|大?语言模型|大模型|智能(?:语音)?(?:助手|助理|客服|体)|语音助手|(?:虚拟|数字)(?:助手|助理|人|角色|形象|客服)"
    r"|(?:计算机|电脑|软件|一段|AI)程序|程序(?=$|[，。！；,.!;…、\s]|而已|罢了|啊|呢|嘛|呀)|一?(?:台|部)机器(?!\w)|机器(?=$|[，。！；,.!;…]|而已|罢了|啊)|一(?:段|串)代码)"
)
# 人工智能专业的学生, AI工程师: what follows makes it something else.
NOT_A_JOB = (
    r"(?!(?:这个|相关|方面|领域|方向|行业|技术|产业|算法)*(?:的)?(?:专业|工程师|研究|博士|硕士|老师|教授|学生|从业|爱好|公司|行业|方向"
    r"|领域|系的|学院|班|社|部门|课|程序员|产品经理|项目|实验室|创业|销售|训练师|标注|粉|迷|专家|讲师|架构|运营|设计师|画师|的人|这行"
    r"|这块|出身|开发者|开发(?!的)|测试|培训|论文|电影|小说|玩具|比赛|大赛|制造|维修|编程|员|猿|媛|相关|技术|时代|那边|厂))"
)
ADVERBS = r"(?:其实|只|就|不过|真的|当然|确实|本来|本身|毕竟|也|还|仅仅|只不过|可|说白了|终究|到底|呢|啊|嘛|呀|，|,|\s|本质上|目前|现在){0,4}"
COUNT = r"(?:一|这|那)?(?:个|名|位|款|种|台|只|套)?(?:[^，。！？；,.!?;\s]{1,10}?的)?"
MADE = r"(?:开发|研发|训练|创造|打造|设计|编写|制造|推出|创建|构建)"
BY = rf"(?:由|被)[^，。！？；,.!?;我]{{1,20}}?{MADE}(?:出来|而成)?(?:的)?"
# 我是学人工智能的, 我是做AI的: a verb in between says what the person does.
GAP = (
    r"[^，。！？；,.!?;学做搞研教修卖造写用玩怕喜讨从负在不被当像听看说问为跟和对给让想爱没讲懂管考干]{0,10}?"
)
HUMAN = r"(?:真人|活人|人类|真的人|真正的人|真实的人|活生生的人|大活人|有血有肉的人)"
PRODUCTS = (
    r"(?:ChatGPT|GPT-?\d\w*|通义千问|千问|文心一言|豆包|讯飞星火|星火认知|混元|腾讯元宝|智谱清言|ChatGLM|小爱同学|天猫精灵"
    r"|Kimi(?=智能|助手|，一)|Siri|DeepSeek)"
)

CHINESE = tuple(
    Rule(name, sort, re.compile(pattern, re.IGNORECASE))
    for name, sort, pattern in (
        ("zh-i-am", DISCLOSURE,
         rf"(?:我|本人|在下|咱)(?:们)?{ADVERBS}(?:是|就是|属于|作为){ADVERBS}{COUNT}(?:{BY})?{GAP}{MACHINE}{NOT_A_JOB}"),
        ("zh-product", DISCLOSURE, rf"我{ADVERBS}(?:是|叫|就是)(?:一个|你的)?{PRODUCTS}(?!的|老师|公司|粉|用户|员工)"),
        ("zh-as", DISCLOSURE,
         rf"(?:^|[，。！？；、,.!?;:：…\s]|但|因为|那|嗯|啊|我|其实|不过|抱歉|毕竟|虽然|而)(?:身为|作为){COUNT}(?:{BY})?{GAP}{MACHINE}{NOT_A_JOB}"),
        ("zh-made-by", DISCLOSURE,
         rf"我{ADVERBS}(?:是)?(?:一个|一款)?(?:由[^，。！？；,.!?;我]{{1,20}}?{MADE}|被[^，。！？；,.!?;我]{{0,12}}?(?:开发|研发|编写|编程|创造))"
         r"(?:出来|而成)?(?:的)?"),
        ("zh-training", DISCLOSURE, r"我的(?:训练数据|知识库|开发者|开发团队|创造者|算法|程序(?=里|设定|中|让|没|不))"),
        ("zh-no-body", DISCLOSURE,
         r"我(?:并|其实|可|是|又|本身|也|确实){0,2}(?:没有|没|不具备|不具有|并不拥有)(?:真正的|真实的|物理的|实体的|人类的|自己的|所谓的|一个)?"
         r"(?:(?:身体|实体|肉体|躯体|肉身)(?![不上状检健店书卡基专经问方力的])|味觉(?!不)|自我意识|人类(?:的|那样的)?(?:感情|情感|情绪|体验|意识|感受))"),
        ("zh-not-human", DISCLOSURE,
         r"我(?:其实|真的|并|可|本来就|确实|又){0,2}(?:不是|并非)(?:一个|什么)?(?:真正的?|真实的?|活生生的?)?(?:人类|真人|活人|真正的人|真实的人|大活人)"),
        ("zh-talking-to", DISCLOSURE,
         rf"你(?:现在|正在|一直|其实|是){{0,3}}在?(?:和|跟|与)(?:一个|一台|一款)?[^，。！？]{{0,6}}?{MACHINE}(?:聊|说|对话|交谈|通话|沟通|交流)"),
        ("zh-this-is", DISCLOSURE,
         rf"(?:这里是|您好，我是|为您服务的是)[^，。！？]{{0,8}}?(?:智能(?:语音)?(?:助手|客服)|机器人客服|{AI}客服)"),
        ("zh-deny-machine", DENIAL,
         rf"(?:才|可|真|真的|又|并|绝对)?(?<!是)(?:不是|并非|怎么(?:会|可能)是|哪(?:里)?是)(?:什么|一个|个|啥)?[^，。！？；,.!?;学做搞研教修卖]{{0,4}}?{MACHINE}{NOT_A_JOB}"),
        ("zh-human", DENIAL,
         rf"我{ADVERBS}(?:是|就是)(?:一个|个|一位)?(?:真真正正的|实实在在的|货真价实的|正常的|普通的?)?{HUMAN}"),
    )
)  # fmt: skip

CLAUSE = re.compile(r"[，。！？；,.!?;…\n]")
TO_YOU = re.compile(
    r"老实说|说实话|坦白说|实话说|说真的|我得说|跟你说|告诉你|不瞒你说|我想说|实话告诉|应该说|可以说|坦率地说"
)
OTHERS = re.compile(
    r"如果|要是|假如|假设|假装|好像|就像|仿佛|以为|觉得|怀疑|当成|当作|当我|扮演|骂|听起来|误会|梦见|幻想|希望|比作|像"
    r"|(?:他|她|你|们|大家|朋友|别人|人家|有人|老婆|老公|妈|爸|同事|同学)(?:都|总|老|常|经常|还|也|就|会|爱|喜欢)*(?:说|叫|喊|笑|问|认为|猜)"
)
ASKED = re.compile(r"[^，。！？；,.!?;]{0,3}?(?:吗|么|嘛[？?]|吧[？?]|[？?])")
OTHER_PEOPLE = re.compile(r"[你您他她它](?:们)?|这|那|对方|谁")


def chinese_stands(text: str, match: re.Match[str], rule: Rule) -> bool:
    """Whether the words are the speaker's own statement about themselves."""
    before = text[max(0, match.start() - 40) : match.start()]
    clause = TO_YOU.sub("", CLAUSE.split(before)[-1])
    if OTHERS.search(clause):
        return False
    if rule.id == "zh-deny-machine":
        # 你不是机器人吧 asks about somebody else
        whole = clause + match.group()
        others, own = list(OTHER_PEOPLE.finditer(whole)), whole.rfind("我")
        if others and others[-1].start() > own:
            return False
    return not (
        rule.id in ("zh-i-am", "zh-not-human", "zh-deny-machine", "zh-talking-to", "zh-human")
        and ASKED.match(text, match.end())
    )
